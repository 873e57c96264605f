// Long: it asks everything that the contract promises of the mock and of a server on each engine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import t from 'tap';

import { workflowFiles } from '../../src/server/publication/workflows.ts';
import { examplesOf, knownPath, operations } from './_contract.ts';
import { deploymentAt } from './_deployment.ts';
import { type Answer, type Asked, codeOf, exchange, parsed } from './_exchange.ts';
import { type Asker, headersOf, type Party, startParty } from './_parties.ts';
import { mockHeaders, questions } from './_questions.ts';
import { type Step, stepsFor, take, type Taken } from './_suite.ts';
import { calledWorkflows, runWorkflows } from './_workflows.ts';

/* The suite, put to the mock and to the servers. */

const [mock, sqlite, postgres] = [
  await startParty('mock'),
  await startParty('sqlite'),
  await startParty('postgres'),
];
const servers = [sqlite, postgres];
t.teardown(async () => {
  for (const party of [mock, ...servers]) await party[Symbol.asyncDispose]();
});

const keyOf = (party: Party, asker: Asker = 'reader') =>
  party.authorization(asker)?.replace('Bearer ', '') ?? '';

for (const party of [mock, ...servers]) {
  t.test(`the suite finds nothing wrong with ${party.name}, and leaves nothing out`, async (t) => {
    for (const step of stepsFor(party))
      t.strictSame(await take(step, party), { name: step.name, problems: [] }, step.name);
  });
}

t.test('anybody can put the suite to a deployment', async (t) => {
  // Of a key that reads little, little is asked.
  const key = keyOf(sqlite, 'licensed for people:read alone');
  const keys = join(t.testdir({ 'keys.json': JSON.stringify({ reader: key }) }), 'keys.json');
  const program = join(import.meta.dirname, 'conformance.ts');
  const conform = async (...args: string[]) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const closed = once(child, 'close') as Promise<[number]>;
    const [output, [exitCode]] = await Promise.all([text(child.stdout), closed]);
    return { exitCode, lastLine: output.trimEnd().split('\n').at(-1) };
  };
  const [ofMock, ofServer, ofBroken] = await Promise.all([
    conform(mock.urls.normal),
    conform(sqlite.urls.normal, keys),
    conform(sqlite.urls['without records'], keys),
  ]);
  t.match(ofMock, { exitCode: 0, lastLine: /^\d+ passed, 0 failed, 0 skipped$/ });
  t.match(ofServer, { exitCode: 0, lastLine: /^\d+ passed, 0 failed, \d+ skipped$/ }, 'with one key alone');
  t.match(ofBroken, { exitCode: 1, lastLine: /^\d+ passed, [1-9]\d* failed, \d+ skipped$/ });
});

/** What is refused in every company alike: it was asked above. */
const isOfNoCompany = ({ name }: Step) => /^40[04] /.test(name);

/** Companies that no example describes, by a key that reads them, and the least that they can be asked. */
const otherCompanies: readonly [what: string, reader: Asker, neighbour: Asker, passedMin: number][] = [
  ['a company of its own, some of whose ids are those of the examples', 'neighbour', 'large', 115],
  ['an empty company', 'unlicensed for people:read', 'neighbour', 90],
  ['a company with one module', 'licensed for jobs:read alone', 'neighbour', 60],
  ['a large company', 'large', 'neighbour', 120],
];

for (const [what, reader, neighbour, passedMin] of otherCompanies) {
  t.test(`the suite finds nothing wrong with ${what}, and leaves out what it has no data for`, async (t) => {
    const keys = {
      ...{ reader: keyOf(sqlite, reader), neighbour: keyOf(sqlite, neighbour) },
      large: keyOf(sqlite, 'large'),
    };
    const party = await deploymentAt(sqlite.urls.normal, keys);
    const taken: Taken[] = [];
    for (const step of stepsFor(party)) if (!isOfNoCompany(step)) taken.push(await take(step, party));
    t.strictSame(
      taken.filter(({ problems }) => problems.length > 0),
      [],
    );
    const { length } = taken.filter(({ needs }) => needs === undefined);
    t.ok(length >= passedMin, `most of it is asked: ${length}`);
  });
}

t.test('a key that is not what it is given for is told in a sentence', async (t) => {
  const reader = keyOf(sqlite);
  for (const [keys, message] of [
    [
      { reader: keyOf(sqlite, 'wrong') },
      'The key for "reader" is answered 401 invalid_key, and should let somebody in.',
    ],
    [
      { reader, revoked: keyOf(sqlite, 'large') },
      'The key for "revoked" is answered 200, not 401 revoked_key.',
    ],
    [
      { reader, neighbour: reader },
      'The key for "neighbour" is of the reader\'s own company, and should be of another.',
    ],
  ] as const)
    await t.rejects(deploymentAt(sqlite.urls.normal, keys), { message });
});

t.test('SQLite and PostgreSQL answer with the same bytes', async (t) => {
  for (const { name, target } of questions(sqlite).filter(({ status }) => status === 200)) {
    const [left, right] = await Promise.all(
      servers.map(async (party) =>
        exchange(party.urls.normal, { target, headers: headersOf(party, 'reader') }),
      ),
    );
    t.equal(left?.body, right?.body, name);
    t.equal(left?.headers['etag'], right?.headers['etag'], `${name}: the tags`);
  }
});

const JOBS = '/api/v1/jobs';
const header =
  (name: string) =>
  ({ headers }: Answer) =>
    headers[name] ?? 'none';

function outcome(answer: Answer): string {
  const body = parsed(answer) as { title?: string; data?: unknown } | undefined;
  const said = body === undefined ? 'nothing' : 'data' in body ? 'data' : (body.title ?? codeOf(body));
  return `${answer.status} ${said}`;
}

function whichPdf({ body }: Answer): string {
  const [example] = examplesOf('getInvoicePdf', 200);
  return body === example?.value ? 'the example' : body.includes('/OutputIntents') ? 'a document' : 'neither';
}

/** A question, its asker, and the part of the answer that is compared. */
type Difference = Asked & { asker?: Asker; of?: (answer: Answer) => string };

/** The servers say Retry-After only where waiting helps. */
const UNINVOICED: Difference = {
  target: '/api/v1/invoices',
  asker: 'uninvoiced',
  headers: { prefer: 'code=503, example=invoicingNotEnabled' },
  of: ({ headers }) => ('retry-after' in headers ? 'told' : 'not told'),
};

/** All in which the mock is not as the servers are: what it does, and what they do. One that ends is taken off the list. */
// prettier-ignore
const differences: readonly [name: string, asked: Difference, byMock: string, byServers: string][] = [
  ['takes unknown parameters', { target: `${JOBS}?limti=4` }, '200 data', '400 invalid_parameter'],
  ['takes an integer in any notation', { target: `${JOBS}?limit=1e1` }, '200 data', '400 invalid_parameter'],
  ['calls a malformed cursor a parameter', { target: `${JOBS}?cursor=x%20y` }, '400 invalid_parameter', '400 invalid_cursor'],
  ['takes any cursor that looks like one', { target: `${JOBS}?cursor=1aaaaaaaaaaaaaaaaaa` }, '200 data', '400 invalid_cursor'],
  ['refuses a malformed id with 400', { target: `${JOBS}/-x` }, '400 invalid_parameter', '404 not_found'],
  ['has a record for every id', { target: `${JOBS}/absent_0000` }, '200 data', '404 not_found'],
  ['does not filter', { target: `${JOBS}?limit=2`, of: ({ body }) => String(body.split('"id":"job_').length - 1) }, '6', '2'],
  ['takes any key', { target: JOBS, asker: 'wrong' }, '200 data', '401 invalid_key'],
  ['does not check scopes', { target: JOBS, asker: 'without jobs:read' }, '200 data', '403 missing_scope'],
  ['does not compare If-None-Match', { target: JOBS, headers: { 'if-none-match': '*' } }, '200 data', '304 nothing'],
  ['does not compress', { target: JOBS, headers: { 'accept-encoding': 'gzip' }, of: header('content-encoding') }, 'none', 'gzip'],
  ['does not know HEAD', { method: 'HEAD', target: JOBS }, '405 nothing', '200 nothing'],
  ['refuses other methods in its own words', { method: 'POST', target: JOBS }, '405 Route resolved, but no method matched', '405 method_not_allowed'],
  ['does not send Allow', { method: 'POST', target: JOBS, of: header('allow') }, 'none', 'GET, HEAD'],
  ['refuses unknown paths in its own words', { target: '/api/v1/nothing' }, '404 Route not resolved, no path matched', '404 not_found'],
  ['insists on its media type', { target: JOBS, headers: { accept: 'text/html' }, of: ({ status }) => String(status) }, '406', '200'],
  ['serves browsers', { target: JOBS, headers: { origin: 'https://app.example' }, of: header('access-control-allow-origin') }, 'https://app.example', 'none'],
  ['says Retry-After where waiting does not help', UNINVOICED, 'told', 'not told'],
  ['serves the smallest file that is a PDF', { target: knownPath('getInvoicePdf'), of: whichPdf }, 'the example', 'a document'],
];

t.test('the mock differs from the servers as declared, and so do the servers from the mock', async (t) => {
  for (const [name, { asker = 'reader', of = outcome, ...asked }, byMock, byServers] of differences) {
    for (const party of [mock, ...servers]) {
      const headers = { ...headersOf(party, asker), ...asked.headers };
      const answer = await exchange(party.urls.normal, { ...asked, headers });
      t.equal(of(answer), party === mock ? byMock : byServers, `the mock ${name}: ${party.name}`);
    }
  }
});

t.test('the mock answers with the first example unless told', async (t) => {
  for (const { operationId } of operations) {
    const asked = { target: knownPath(operationId), headers: headersOf(mock, 'reader') };
    const answer = await exchange(mock.urls.normal, asked);
    t.equal(answer.status, 200, operationId);
    t.strictSame(parsed(answer) ?? answer.body, examplesOf(operationId, 200)[0]?.value, operationId);
  }
});

t.test('the mock adds each of the headers that are declared as its own', async (t) => {
  const seen = new Set<string>();
  for (const target of [JOBS, `${JOBS}?limit=0`]) {
    const { headers } = await exchange(mock.urls.normal, { target, headers: headersOf(mock, 'reader') });
    for (const name of Object.keys(headers)) seen.add(name);
  }
  t.strictSame(
    mockHeaders.filter((name) => !seen.has(name)),
    [],
  );
});

const workflowsAt = workflowFiles.map((file) => `${sqlite.urls.normal}/workflows/${file}`);

// A workflow asks nothing that the suite didn't: one server serves as well as another.
for (const party of [mock, sqlite]) {
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
  const party = { url: sqlite.urls.normal, key: `${keyOf(sqlite)}x` };
  const { exitCode, said } = await runWorkflows(first, party);
  t.equal(exitCode, 1);
  t.match(said, /✓ GET \/api\/v1\/jobs - step ask-without-a-key/);
  t.match(said, /✗ GET \/api\/v1\/jobs - step list-jobs/);
});
