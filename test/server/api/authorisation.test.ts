import t from 'tap';
import type { Test } from 'tap';

import { createCompany, setCompany } from '../../../src/server/backoffice/companies.ts';
import { revokeKey } from '../../../src/server/features/keys/keys.ts';
import { modules, scopes } from '../../../src/contract/scopes.ts';
import { keyFor, startEmptyServer, startTestServer, STORY_NOW, type TestServer } from '../../_server.ts';
import { invoiceOf, store, uuidOf } from './_records.ts';

/* What each scope and each module opens is the suite's to ask (test/contract/_access-checks.ts), on both engines. */

/** What each condition is answered, in the order in which they are looked at (src/README.md, "Order of the checks"). */
const answers = {
  'unknown path': '404 not_found',
  'other method': '405 method_not_allowed',
  'wrong key': '401 invalid_key',
  'revoked key': '401 revoked_key',
  'used-up allowance': '429 rate_limited',
  'inactive subscription': '403 company_unavailable',
  'API off': '403 api_not_enabled',
  'module not in the plan': '403 module_not_licensed',
  'missing scope': '403 missing_scope',
  'invoicing off': '503 invoicing_not_enabled',
  'wrong parameter': '400 invalid_parameter',
  'unknown record': '404 not_found',
};
type Condition = keyof typeof answers;
// The keys of an object literal.
const conditions = Object.keys(answers) as Condition[];

async function start(t: Test) {
  const { server, engine } = await startEmptyServer(t, 'sqlite');
  const strict = await startTestServer({ engine, rateLimitPerMinute: 1 });
  t.teardown(() => strict[Symbol.asyncDispose]());
  return { server, strict, engine };
}

async function answerTo(
  server: TestServer,
  key: string,
  path: string,
  method: 'GET' | 'PUT' = 'GET',
): Promise<string> {
  const { statusCode, body } = await server.http(path, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  const { error } = JSON.parse(body) as { error?: { code: string } };
  return `${statusCode} ${error?.code ?? 'ok'}`;
}

/** Asks for one invoice under the given conditions, each of which alone is reason to refuse it. */
async function askUnder(
  { server, strict, engine }: Awaited<ReturnType<typeof start>>,
  company: string,
  failing: ReadonlySet<Condition>,
): Promise<string> {
  await createCompany(engine, company, {}, STORY_NOW);
  await store(engine, company, [invoiceOf({ id: uuidOf(1), issueDate: '2026-11-10' })]);
  const held = failing.has('missing scope') ? ['quotes:read'] : scopes;
  const key = await keyFor(engine, company, held);
  const asked = failing.has('used-up allowance') ? strict : server;
  if (asked === strict) await answerTo(strict, key, 'api/v1/jobs');
  if (failing.has('revoked key')) await revokeKey(engine, company, key.split('.')[2] ?? '', STORY_NOW);
  await setCompany(engine, company, {
    subscriptionActive: !failing.has('inactive subscription'),
    apiEnabled: !failing.has('API off'),
    modules: failing.has('module not in the plan')
      ? modules.filter((module) => module !== 'invoices')
      : [...modules],
    invoicingEnabled: !failing.has('invoicing off'),
  });
  const id = failing.has('unknown record') ? uuidOf(2) : uuidOf(1);
  const path = failing.has('unknown path') ? `api/v1/nothing/${id}` : `api/v1/invoices/${id}`;
  const sent = failing.has('wrong key') ? `${key.slice(0, -2)}${key.at(-2) === 'A' ? 'B' : 'A'}x` : key;
  const query = failing.has('wrong parameter') ? '?expand=lines' : '';
  return answerTo(asked, sent, path + query, failing.has('other method') ? 'PUT' : 'GET');
}

t.test('invoicing that is off closes quotes, too', async (t) => {
  const { server, engine } = await start(t);
  await createCompany(engine, 'off', { invoicingEnabled: false }, STORY_NOW);
  const key = await keyFor(engine, 'off');
  for (const [list, answer] of Object.entries({ quotes: '503 invoicing_not_enabled', jobs: '200 ok' }))
    t.equal(await answerTo(server, key, `api/v1/${list}`), answer, list);
});

t.test('of two reasons to refuse a request the earlier one is answered', async (t) => {
  const started = await start(t);
  let companies = 0;
  const check = async (failing: readonly Condition[]) => {
    const [first] = failing;
    const answer = await askUnder(started, `order-${++companies}`, new Set(failing));
    t.equal(answer, first === undefined ? '200 ok' : answers[first], failing.join(', ') || 'no reason');
  };
  await check([]);
  for (const [index, earlier] of conditions.entries()) {
    await check([earlier]);
    for (const later of conditions.slice(index + 1)) await check([earlier, later]);
    // And with everything that comes later.
    await check(conditions.slice(index));
  }
});
