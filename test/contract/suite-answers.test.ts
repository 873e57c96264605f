import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import t from 'tap';

import { workflowFiles } from '../../src/server/publication/workflows.ts';
import { checks, problemsOf } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { deploymentAt, examineDeployment, type Step } from './_deployment.ts';
import { createMeter, unseenHeaders, unseenMembers, unseenParameters, unseenStatuses } from './_coverage.ts';
import { declaredOperations, declaredResponse, knownPath } from './_declared.ts';
import { type Answer, type Asked, ask, parsed } from './_exchange.ts';
import { type Asker, headersOf, type Party, startParty } from './_parties.ts';
import { startDefectiveParty } from './_proxy.ts';
import { examine, isFor, mockHeaders, questions } from './_questions.ts';
import { calledWorkflows, runWorkflows } from './_workflows.ts';

/*
 * The suite, put to the mock and to the servers. SQLite's is reached through a proxy that notes what passes, and so
 * tells what the contract declares and nobody asked for.
 */

const { tap: meter, seen } = createMeter();
const [mock, direct, postgres] = [
  await startParty('mock'),
  await startParty('sqlite'),
  await startParty('postgres'),
];
const metered = await startDefectiveParty(direct);
const sqlite = metered.party;
const servers = [sqlite, postgres];
metered.plant(meter);
t.teardown(async () => {
  for (const party of [metered, mock, direct, postgres]) await party[Symbol.asyncDispose]();
});

t.test(
  'every declared status and every named example is asked for, by questions of different names',
  async (t) => {
    const asked = questions();
    t.equal(new Set(asked.map(({ name }) => name)).size, asked.length);
    t.strictSame(
      asked.filter(({ of }) => of === 'the mock'),
      [],
      'nothing is asked of the mock alone',
    );
    const statuses = new Set(asked.map(({ operationId, status }) => `${operationId} ${status}`));
    const examples = new Set(
      asked.map(({ operationId, status, example }) => `${operationId} ${status} ${example}`),
    );
    const declared = declaredOperations().flatMap(({ operationId, responses }) =>
      [...responses].map(([status, response]) => ({ name: `${operationId} ${status}`, ...response })),
    );
    t.ok(declared.length > 80, `${declared.length} statuses`);
    t.strictSame(
      declared.map(({ name }) => name).filter((name) => !statuses.has(name)),
      [],
    );
    const named = declared.flatMap(({ name, examples }) =>
      examples.map((example) => `${name} ${example.name}`),
    );
    t.ok(named.length > 200, `${named.length} examples`);
    t.strictSame(
      named.filter((name) => !examples.has(name)),
      [],
    );
  },
);

for (const party of [mock, ...servers]) {
  t.test(`${party.name} answers every question as the contract says`, async (t) => {
    const asked = questions().filter((question) => isFor(question, party));
    t.ok(asked.length > 250, `${asked.length} questions`);
    for (const question of asked) t.strictSame(await examine(party, question), [], question.name);
  });
}

for (const party of servers) {
  t.test(`the checks over several answers hold on ${party.name}`, async (t) => {
    for (const check of checks) t.strictSame(await problemsOf(check, party), [], check.name);
  });
}

/** A document is named by others once it is issued; the contract has one set of statuses for all places. */
const impossible = [
  'getInvoice/data/creditNotes/*/status is never draft',
  'getInvoice/data/creditedInvoice/status is never draft',
];

t.test('all that the contract declares has passed over the wire', async (t) => {
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

t.test('anybody can put the suite to a deployment', async (t) => {
  const folder = t.testdir({
    'keys.json': JSON.stringify({ reader: direct.authorization('reader')?.replace('Bearer ', '') }),
  });
  const program = join(import.meta.dirname, 'conformance.ts');
  const conform = async (url: string, keys = '') => {
    const child = spawn(process.execPath, [program, url, keys], { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(child, 'close') as Promise<[number]>;
    const [output, [exitCode]] = await Promise.all([text(child.stdout), closed]);
    return { exitCode, lastLine: output.trimEnd().split('\n').at(-1) };
  };
  const keys = join(folder, 'keys.json');
  const [ofMock, ofServer, ofBroken] = await Promise.all([
    conform(mock.urls.normal),
    conform(direct.urls.normal, keys),
    conform(direct.urls['without records'], keys),
  ]);
  t.match(ofMock, { exitCode: 0, lastLine: /^\d{3} passed, 0 failed, 0 skipped$/ });
  t.match(ofServer, { exitCode: 0, lastLine: /^\d{3} passed, 0 failed, \d+ skipped$/ }, 'with one key alone');
  t.match(ofBroken, { exitCode: 1, lastLine: /^\d+ passed, [1-9]\d* failed, \d+ skipped$/ });
});

/** Companies that no example describes, by a key that reads them, and the least that they can be asked. */
const otherCompanies: readonly [what: string, reader: Asker, neighbour: Asker, passedMin: number][] = [
  ['a company of its own, some of whose ids are those of the examples', 'neighbour', 'large', 600],
  ['an empty company', 'unlicensed for people:read', 'neighbour', 500],
  ['a company with one module', 'licensed for jobs:read alone', 'neighbour', 80],
  ['a large company', 'large', 'neighbour', 650],
];

for (const [what, reader, neighbour, passedMin] of otherCompanies) {
  t.test(`the suite finds nothing wrong with ${what}, and leaves out what it has no data for`, async (t) => {
    const keyOf = (asker: Asker) => direct.authorization(asker)?.replace('Bearer ', '') ?? '';
    const keys = { reader: keyOf(reader), neighbour: keyOf(neighbour), large: keyOf('large') };
    const steps: Step[] = [];
    for await (const step of examineDeployment(await deploymentAt(direct.urls.normal, keys)))
      steps.push(step);
    t.strictSame(
      steps.filter(({ problems }) => problems.length > 0),
      [],
    );
    const passed = steps.filter(({ needs }) => needs === undefined);
    t.ok(passed.length >= passedMin, `${passed.length} of ${steps.length} are asked`);
  });
}

t.test('a key that is not what it is given for is told in a sentence', async (t) => {
  const keyOf = (asker: Asker) => direct.authorization(asker)?.replace('Bearer ', '') ?? '';
  for (const [keys, sentence] of [
    [
      { reader: keyOf('wrong') },
      'The key for "reader" is answered 401 invalid_key, and should let somebody in.',
    ],
    [
      { reader: keyOf('reader'), revoked: keyOf('large') },
      'The key for "revoked" is answered 200, not 401 revoked_key.',
    ],
    [
      { reader: keyOf('reader'), neighbour: keyOf('reader') },
      'The key for "neighbour" is of the reader\'s own company, and should be of another.',
    ],
  ] as const) {
    await t.rejects(deploymentAt(direct.urls.normal, keys), { message: sentence });
  }
});

t.test('SQLite and PostgreSQL answer with the same bytes', async (t) => {
  const asked = questions().filter(
    (question) => question.status === 200 && servers.every((party) => isFor(question, party)),
  );
  t.ok(asked.length > 40, `${asked.length} questions`);
  for (const { name, target } of asked) {
    const [left, right] = await Promise.all(
      servers.map(async (party) => ask(party.urls.normal, { target, headers: headersOf(party, 'reader') })),
    );
    t.equal(left?.body, right?.body, name);
    t.equal(left?.headers['etag'], right?.headers['etag'], `${name}: the tags`);
  }
});

function outcome(answer: Answer): string {
  const body = parsed(answer) as { title?: string; data?: unknown } | undefined;
  const said = body === undefined ? 'nothing' : 'data' in body ? 'data' : (body.title ?? codeOf(body));
  return `${answer.status} ${said}`;
}

const JOBS = '/api/v1/jobs';

/** A question, its asker, and the part of the answer that is compared. */
type Difference = Asked & { asker?: Asker; of?: (answer: Answer) => string };

/** All in which the mock is not as the servers are: what it does, and what they do. One that ends is taken off the list. */
const differences: readonly [name: string, asked: Difference, outcomes: [mock: string, servers: string]][] = [
  ['takes unknown parameters', { target: `${JOBS}?limti=4` }, ['200 data', '400 invalid_parameter']],
  [
    'takes an integer in any notation',
    { target: `${JOBS}?limit=1e1` },
    ['200 data', '400 invalid_parameter'],
  ],
  [
    'calls a malformed cursor an invalid parameter',
    { target: `${JOBS}?cursor=x%20y` },
    ['400 invalid_parameter', '400 invalid_cursor'],
  ],
  [
    'takes any cursor that looks like one',
    { target: `${JOBS}?cursor=1aaaaaaaaaaaaaaaaaa` },
    ['200 data', '400 invalid_cursor'],
  ],
  ['refuses a malformed id with 400', { target: `${JOBS}/-x` }, ['400 invalid_parameter', '404 not_found']],
  ['has a record for every id', { target: `${JOBS}/absent_0000` }, ['200 data', '404 not_found']],
  [
    'does not filter',
    {
      target: `${JOBS}?limit=2`,
      of: (answer) => String((parsed(answer) as { data: unknown[] }).data.length),
    },
    ['6', '2'],
  ],
  ['takes any key', { target: JOBS, asker: 'wrong' }, ['200 data', '401 invalid_key']],
  ['does not check scopes', { target: JOBS, asker: 'without jobs:read' }, ['200 data', '403 missing_scope']],
  [
    'does not compare If-None-Match',
    { target: JOBS, headers: { 'if-none-match': '*' } },
    ['200 data', '304 nothing'],
  ],
  [
    'does not compress',
    {
      target: JOBS,
      headers: { 'accept-encoding': 'gzip' },
      of: ({ headers }) => headers['content-encoding'] ?? 'plain',
    },
    ['plain', 'gzip'],
  ],
  ['does not know HEAD', { method: 'HEAD', target: JOBS }, ['405 nothing', '200 nothing']],
  [
    "refuses other methods in Prism's own words",
    { method: 'POST', target: JOBS },
    ['405 Route resolved, but no method matched', '405 method_not_allowed'],
  ],
  [
    'does not send Allow',
    { method: 'POST', target: JOBS, of: ({ headers }) => headers['allow'] ?? 'none' },
    ['none', 'GET, HEAD'],
  ],
  [
    "refuses unknown paths in Prism's own words",
    { target: '/api/v1/nothing' },
    ['404 Route not resolved, no path matched', '404 not_found'],
  ],
  [
    'insists on its media type',
    { target: JOBS, headers: { accept: 'text/html' } },
    ['406 The server cannot produce a representation for your accept header', '200 data'],
  ],
  [
    'serves browsers',
    {
      target: JOBS,
      headers: { origin: 'https://app.example' },
      of: ({ headers }) => headers['access-control-allow-origin'] ?? 'none',
    },
    ['https://app.example', 'none'],
  ],
  [
    'serves the smallest file that is a PDF, the servers the whole document',
    { target: knownPath('getInvoicePdf'), of: whichPdf },
    ['the example', 'a document'],
  ],
];

function whichPdf({ body }: Answer): string {
  const [example] = declaredResponse('getInvoicePdf', 200).examples;
  return body === example?.value ? 'the example' : body.includes('/OutputIntents') ? 'a document' : 'neither';
}

t.test('the mock differs from the servers as declared, and so do the servers from the mock', async (t) => {
  for (const [name, { asker = 'reader', of = outcome, ...asked }, [byMock, byServers]] of differences) {
    t.not(byMock, byServers, name);
    for (const party of [mock, ...servers]) {
      const headers = { ...headersOf(party, asker), ...asked.headers };
      const answer = await ask(party.urls.normal, { ...asked, headers });
      t.equal(of(answer), party === mock ? byMock : byServers, `the mock ${name}: ${party.name}`);
    }
  }
});

t.test('the mock answers with the first example unless told', async (t) => {
  for (const { operationId } of declaredOperations()) {
    const [first] = declaredResponse(operationId, 200).examples;
    const answer = await ask(mock.urls.normal, {
      target: knownPath(operationId),
      headers: headersOf(mock, 'reader'),
    });
    t.equal(answer.status, 200, operationId);
    t.strictSame(parsed(answer) ?? answer.body, first?.value, operationId);
  }
});

t.test('the mock adds no header but those of its declared difference', async (t) => {
  const seen = new Set<string>();
  for (const target of ['/api/v1/jobs', '/api/v1/jobs?limit=0']) {
    const { headers } = await ask(mock.urls.normal, { target, headers: headersOf(mock, 'reader') });
    for (const name of Object.keys(headers)) if (mockHeaders.includes(name)) seen.add(name);
  }
  t.strictSame(
    [...seen].sort(),
    [...mockHeaders].sort(),
    'each of them is sent, and the conformance check refuses others',
  );
});

t.test('the mock says Retry-After with every 503, the servers only where waiting helps', async (t) => {
  const target = '/api/v1/invoices';
  const byMock = await ask(mock.urls.normal, {
    target,
    headers: { ...headersOf(mock, 'reader'), prefer: 'code=503, example=invoicingNotEnabled' },
  });
  const byServer = await ask(sqlite.urls.normal, { target, headers: headersOf(sqlite, 'uninvoiced') });
  t.equal(codeOf(parsed(byMock)), 'invoicing_not_enabled');
  t.equal(codeOf(parsed(byServer)), 'invoicing_not_enabled');
  t.match(byMock.headers['retry-after'], /^\d+$/);
  t.equal(byServer.headers['retry-after'], undefined);
});

const workflowsAt = workflowFiles.map((file) => `${direct.urls.normal}/workflows/${file}`);
const keyOf = (party: Party) => party.authorization('reader')?.replace('Bearer ', '') ?? '';

for (const party of [mock, direct, postgres]) {
  t.test(`every step of every workflow succeeds on ${party.name}`, async (t) => {
    const key = keyOf(party);
    const { exitCode, said } = await runWorkflows(workflowsAt, { url: party.urls.normal, key });
    t.equal(exitCode, 0, said);
    t.equal(said.match(/Workflows: 1 passed, 1 total/g)?.length, workflowFiles.length);
    t.notMatch(said, key, 'the key is not shown');
    // The mock's lists have one page.
    if (party === mock) return;
    for (const name of calledWorkflows) t.match(said, ` / ${name} `, `${name} is called`);
  });
}

t.test('a step of a workflow that fails is seen', async (t) => {
  const first = workflowsAt.filter((address) => address.includes('first-hour'));
  const { exitCode, said } = await runWorkflows(first, { url: direct.urls.normal, key: `${keyOf(direct)}x` });
  t.equal(exitCode, 1);
  t.match(said, /✓ GET \/api\/v1\/jobs - step ask-without-a-key/);
  t.match(said, /✗ GET \/api\/v1\/jobs - step list-jobs/);
});
