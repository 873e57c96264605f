import t from 'tap';

import { checkedName } from '../../src/access/administrators.ts';
import { checkedKeyName } from '../../src/access/keys.ts';

t.test('a name is taken as it is spelt, with joiners where its language has them', async (t) => {
  for (const name of ['مهدی\u200cزاده', 'ශ්\u200dරී', '👩\u200d🔧 Nora', "Aoife O'Brien", '陳大文']) {
    t.equal(checkedName(` ${name}`), name.normalize('NFC'));
    t.equal(checkedKeyName(name), name.normalize('NFC'));
  }
});

t.test('a refusal of a name says which character or rule it is about', async (t) => {
  const message = (code: string) =>
    `The name has a character that can't be seen, ${code}, after "Eve"; leave it out.`;
  t.throws(() => checkedName('Eve\u202eadmin'), { message: message('U+202E'), field: 'name' });
  t.throws(() => checkedName('Eve\nadmin'), { message: message('U+000A') });
  t.throws(() => checkedName('Eve\u200badmin'), { message: message('U+200B') });
  const rule = 'The name must have 1 to 100 characters, in one line.';
  for (const name of ['', ' ', '\u200d', 'x'.repeat(101)])
    t.throws(() => checkedName(name), { message: rule });
});
