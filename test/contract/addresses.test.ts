import t from 'tap';

import { linesBeside, townOf } from '../../src/contract/addresses.ts';

t.test('the town and the postcode are taken from the last lines where they end in a postcode', async (t) => {
  const addresses: [lines: string[], place: object, others: string[]][] = [
    [['1 Quay Street', 'Galway', 'H91 E2V8'], { town: 'Galway', postcode: 'H91 E2V8' }, ['1 Quay Street']],
    [['1 Quay Street', 'Galway H91E2V8'], { town: 'Galway', postcode: 'H91E2V8' }, ['1 Quay Street']],
    [['Main St', 'Dublin, D6W XY00'], { town: 'Dublin', postcode: 'D6W XY00' }, ['Main St']],
    [
      ['Main Street', 'Tuam', 'Co. Galway', 'H54 YR28'],
      { town: 'Tuam', region: 'Co. Galway', postcode: 'H54 YR28' },
      ['Main Street'],
    ],
    [
      ['10 Downing Street', 'London', 'SW1A 2AA'],
      { town: 'London', postcode: 'SW1A 2AA' },
      ['10 Downing Street'],
    ],
    [['1 Quay Street', 'Upper Galway'], {}, ['1 Quay Street', 'Upper Galway']],
    [['H91 E2V8'], { postcode: 'H91 E2V8' }, ['H91 E2V8']],
    [['Rue 1', '75002 Paris'], {}, ['Rue 1', '75002 Paris']],
    [[], {}, []],
  ];
  for (const [addressLines, expected, others] of addresses) {
    const place = townOf({ addressLines });
    const given = Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined));
    t.strictSame(given, expected, addressLines.join(', '));
    t.strictSame(linesBeside({ addressLines, ...place }), others, addressLines.join(', '));
  }
});

t.test('a town that is given stays, and isn’t said again', async (t) => {
  const given = { addressLines: ['1 Quay Street', 'Upper Galway'], town: 'Galway', postcode: 'H91 E2V8' };
  t.match(townOf(given), { town: 'Galway', postcode: 'H91 E2V8' });
  t.strictSame(linesBeside(given), ['1 Quay Street', 'Upper Galway'], 'a longer name is another one');
  t.strictSame(linesBeside({ ...given, addressLines: ['Quay', 'Galway'] }), ['Quay']);
});
