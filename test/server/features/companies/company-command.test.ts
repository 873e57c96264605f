import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createCanvas } from '@napi-rs/canvas';
import t from 'tap';

import type { Company } from '../../../../src/server/store/records/companies.ts';
import { logoFromFile } from '../../../../src/server/logos/logo.ts';
import { openWorkplace } from '../../../_command.ts';

/** A square of 16 by 16 pixels in one colour. */
function square(colour: string): Buffer {
  const canvas = createCanvas(16, 16);
  const context = canvas.getContext('2d');
  context.fillStyle = colour;
  context.fillRect(0, 0, 16, 16);
  return canvas.toBuffer('image/png');
}

t.test('companies are created, changed and listed', async (t) => {
  await using workplace = await openWorkplace();
  const { json, call } = workplace;
  t.strictSame(await json('company list'), [], 'there is none at first');

  const created = await json<Company>('company create zeta');
  t.match(created.createdAt, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  const asCreated = {
    id: 'zeta',
    name: 'zeta',
    apiEnabled: false,
    subscriptionActive: true,
    invoicingEnabled: false,
    modules: ['jobs', 'people', 'forms', 'invoices', 'customers', 'quotes'],
    timeZone: 'Europe/Dublin',
    currency: 'EUR',
    profile: {},
    issuedElsewhere: [],
    handOver: false,
    secondFactorRequired: false,
    createdAt: created.createdAt,
  };
  t.strictSame(created, asCreated, 'the API and invoicing are off until asked for');

  const picture = join(workplace.folder, 'logo.png');
  writeFileSync(picture, square('teal'));
  const changed = await json<Company>(
    `company set zeta --name 'Zeta & Sons' --api off --subscription off --invoicing off
      --modules ' quotes, jobs,quotes' --time-zone Europe/London --currency GBP
      --legal-name 'Zeta and Sons Ltd' --country-code GB --address-lines '1 High Street; Leeds;'
      --vat-id GB123456782 --logo ${picture}`,
  );
  const asChanged = {
    ...asCreated,
    name: 'Zeta & Sons',
    subscriptionActive: false,
    modules: ['quotes', 'jobs'],
    timeZone: 'Europe/London',
    currency: 'GBP',
    profile: {
      legalName: 'Zeta and Sons Ltd',
      addressLines: ['1 High Street', 'Leeds'],
      countryCode: 'GB',
      vatId: 'GB123456782',
      logo: logoFromFile(square('teal')),
    },
  };
  t.strictSame(changed, asChanged);

  const kept = await json<Company>("company set zeta --phone '+44 113 496 0000'");
  const asKept = { ...asChanged, profile: { ...asChanged.profile, phone: '+44 113 496 0000' } };
  t.strictSame(kept, asKept, 'what is not given stays');

  const next =
    'Off for this company: API access and invoicing. To switch on: fieldledger company set zeta --api --invoicing\n';
  for (const line of ['key create zeta --scopes all', 'admin create zeta z@zeta.example --scopes all'])
    t.ok((await call(line)).stderr.endsWith(next), line);

  await json("company create alpha --modules '' --api --invoicing");
  const [first, second, ...others] = await json<Company[]>('company list');
  t.equal(first?.id, 'alpha', 'in the order of the ids');
  t.strictSame([second, ...others], [{ ...asKept, lastChangeAt: null }]);
  t.strictSame(await call('company list'), {
    exitCode: 0,
    stderr: '',
    stdout: `ID     NAME         API  SUBSCRIPTION  INVOICING  TIME ZONE      CURRENCY  MODULES      ISSUED ELSEWHERE
alpha  alpha        on   on            on         Europe/Dublin  EUR       none         none
zeta   Zeta & Sons  off  off           off        Europe/London  GBP       quotes,jobs  none
`,
  });
});

t.test('a logo that documents could not show is refused', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.call('company create acme');
  for (const [picture, problem] of [
    [Buffer.alloc(800_000), 'it has 800000 bytes, and a logo has at most 750000.'],
    [square('white'), 'nothing of it can be seen on white paper'],
  ] as const) {
    const path = join(workplace.folder, 'logo');
    writeFileSync(path, picture);
    const refused = await workplace.call(`company set acme --logo ${path}`);
    t.match(refused, { exitCode: 2, stderr: `Documents can't show it: ${problem}` });
  }
});
