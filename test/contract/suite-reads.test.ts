import t from 'tap';

import { checks, problemsOf } from './_checks.ts';
import { ask } from './_exchange.ts';
import { headersOf, startParty } from './_parties.ts';
import { isFor, questions } from './_questions.ts';

const [sqlite, postgres] = [await startParty('sqlite'), await startParty('postgres')];
t.teardown(async () => {
  for (const party of [sqlite, postgres]) await party[Symbol.asyncDispose]();
});

for (const party of [sqlite, postgres]) {
  t.test(`what holds over several answers holds on ${party.name}`, async (t) => {
    for (const check of checks) t.strictSame(await problemsOf(check, party), [], check.name);
  });
}

t.test('SQLite and PostgreSQL answer with the same bytes', async (t) => {
  const asked = questions().filter(
    (question) => question.status === 200 && isFor(question, sqlite) && isFor(question, postgres),
  );
  t.ok(asked.length > 40, `${asked.length} questions`);
  for (const { name, target } of asked) {
    const [left, right] = await Promise.all(
      [sqlite, postgres].map(async (party) =>
        ask(party.urls.normal, { target, headers: headersOf(party, 'reader') }),
      ),
    );
    t.equal(left?.body, right?.body, name);
    t.equal(left?.headers['etag'], right?.headers['etag'], `${name}: the tags`);
  }
});
