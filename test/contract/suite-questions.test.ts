import t from 'tap';

import { type Party, startParty } from './_parties.ts';
import { examine, isFor, questions } from './_questions.ts';

const parties: readonly Party['name'][] = ['mock', 'sqlite', 'postgres'];

for (const name of parties) {
  t.test(`${name} answers every question as the contract says`, async (t) => {
    await using party = await startParty(name);
    const asked = questions().filter((question) => isFor(question, party));
    t.ok(asked.length > 250, `${asked.length} questions`);
    for (const question of asked) t.strictSame(await examine(party, question), [], question.name);
  });
}
