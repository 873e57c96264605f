import t from 'tap';

import { checks, problemsOf } from './_checks.ts';
import { createMeter, unseenHeaders, unseenMembers, unseenParameters, unseenStatuses } from './_coverage.ts';
import { declaredOperations } from './_declared.ts';
import { startParty } from './_parties.ts';
import { startDefectiveParty } from './_proxy.ts';
import { examine, isFor, questions } from './_questions.ts';

/** A document is named by others once it is issued; the contract has one set of statuses for all places. */
const impossible = [
  'getInvoice/data/creditNotes/*/status is never draft',
  'getInvoice/data/creditedInvoice/status is never draft',
];

/** What the contract declares, as `operation status example`. */
function declaredExamples(): string[] {
  return declaredOperations().flatMap(({ operationId, responses }) =>
    [...responses].flatMap(([status, { examples }]) =>
      examples.map(({ name }) => `${operationId} ${status} ${name}`),
    ),
  );
}

t.test('a question asks for every declared status of every operation', async (t) => {
  const declared = declaredOperations().flatMap(({ operationId, responses }) =>
    [...responses.keys()].map((status) => `${operationId} ${status}`),
  );
  const asked = questions().map(({ operationId, status }) => `${operationId} ${status}`);
  t.ok(declared.length > 80, `${declared.length} statuses`);
  t.strictSame(
    declared.filter((status) => !asked.includes(status)),
    [],
  );
});

t.test('a question asks for every named example', async (t) => {
  const asked = questions().map(({ operationId, status, example }) => `${operationId} ${status} ${example}`);
  const declared = declaredExamples();
  t.ok(declared.length > 200, `${declared.length} examples`);
  t.strictSame(
    declared.filter((example) => !asked.includes(example)),
    [],
  );
});

t.test('no two questions have the same name', async (t) => {
  const names = questions().map(({ name }) => name);
  t.equal(new Set(names).size, names.length);
});

t.test('nothing is asked of the mock alone', async (t) => {
  t.strictSame(
    questions().filter(({ of }) => of === 'the mock'),
    [],
  );
});

t.test('all that the contract declares passes over the wire when the suite is run', async (t) => {
  await using server = await startParty('sqlite');
  await using metered = await startDefectiveParty(server);
  const { tap, seen } = createMeter();
  metered.plant(tap);
  for (const question of questions().filter((candidate) => isFor(candidate, server))) {
    t.strictSame(await examine(metered.party, question), [], question.name);
  }
  for (const check of checks) t.strictSame(await problemsOf(check, metered.party), [], check.name);
  t.comment(`${seen.length} answers`);
  t.strictSame(unseenStatuses(seen), [], 'every status of every operation');
  t.strictSame(unseenHeaders(seen), [], 'every header of every response');
  t.strictSame(unseenParameters(seen), [], 'every parameter, accepted and refused');
  t.strictSame(
    unseenMembers(seen).filter((what) => !impossible.includes(what)),
    [],
    'every member of every body',
  );
});
