import t from 'tap';

import { codeOf } from './_conformance.ts';
import { declaredOperations, declaredResponse, knownPath } from './_declared.ts';
import { type Answer, type Asked, ask, parsed } from './_exchange.ts';
import { type Asker, headersOf, startParty } from './_parties.ts';
import { mockHeaders } from './_questions.ts';

interface Difference {
  name: string;
  asked: Asked;
  asker?: Asker;
  mock: string;
  servers: string;
  /** What of an answer is compared. */
  of?: (answer: Answer) => string;
}

const ABSENT_JOB = '/api/v1/jobs/absent_0000';
const SETTLED_PDF = knownPath('getInvoicePdf');

function outcome(answer: Answer): string {
  const body = parsed(answer) as { title?: string; data?: unknown } | undefined;
  const said = body === undefined ? 'nothing' : 'data' in body ? 'data' : (body.title ?? codeOf(body));
  return `${answer.status} ${said}`;
}

const [mock, sqlite, postgres] = [
  await startParty('mock'),
  await startParty('sqlite'),
  await startParty('postgres'),
];
t.teardown(async () => {
  for (const party of [mock, sqlite, postgres]) await party[Symbol.asyncDispose]();
});

/** All in which the mock is not as the servers are. One that ends has to be taken off the list. */
const differences: readonly Difference[] = [
  {
    name: 'the mock takes unknown parameters',
    asked: { target: '/api/v1/jobs?limti=4' },
    mock: '200 data',
    servers: '400 invalid_parameter',
  },
  {
    name: 'the mock takes an integer in any notation',
    asked: { target: '/api/v1/jobs?limit=1e1' },
    mock: '200 data',
    servers: '400 invalid_parameter',
  },
  {
    name: 'the mock calls a malformed cursor an invalid parameter',
    asked: { target: '/api/v1/jobs?cursor=x%20y' },
    mock: '400 invalid_parameter',
    servers: '400 invalid_cursor',
  },
  {
    name: 'the mock takes any cursor that looks like one',
    asked: { target: '/api/v1/jobs?cursor=1aaaaaaaaaaaaaaaaaa' },
    mock: '200 data',
    servers: '400 invalid_cursor',
  },
  {
    name: 'the mock refuses a malformed id with 400',
    asked: { target: '/api/v1/jobs/-x' },
    mock: '400 invalid_parameter',
    servers: '404 not_found',
  },
  {
    name: 'the mock has a record for every id',
    asked: { target: ABSENT_JOB },
    mock: '200 data',
    servers: '404 not_found',
  },
  {
    name: 'the mock does not filter',
    asked: { target: '/api/v1/jobs?limit=2' },
    mock: '6',
    servers: '2',
    of: (answer) => String((parsed(answer) as { data: unknown[] }).data.length),
  },
  {
    name: 'the mock takes any key',
    asked: { target: '/api/v1/jobs' },
    asker: 'wrong',
    mock: '200 data',
    servers: '401 invalid_key',
  },
  {
    name: 'the mock does not check scopes',
    asked: { target: '/api/v1/jobs' },
    asker: 'without jobs:read',
    mock: '200 data',
    servers: '403 missing_scope',
  },
  {
    name: 'the mock does not compare If-None-Match',
    asked: { target: '/api/v1/jobs', headers: { 'if-none-match': '*' } },
    mock: '200 data',
    servers: '304 nothing',
  },
  {
    name: 'the mock does not compress',
    asked: { target: '/api/v1/jobs', headers: { 'accept-encoding': 'gzip' } },
    mock: 'plain',
    servers: 'gzip',
    of: ({ headers }) => headers['content-encoding'] ?? 'plain',
  },
  {
    name: 'the mock does not know HEAD',
    asked: { method: 'HEAD', target: '/api/v1/jobs' },
    mock: '405 nothing',
    servers: '200 nothing',
  },
  {
    name: "the mock refuses other methods in Prism's own words",
    asked: { method: 'POST', target: '/api/v1/jobs' },
    mock: '405 Route resolved, but no method matched',
    servers: '405 method_not_allowed',
  },
  {
    name: 'the mock does not send Allow',
    asked: { method: 'POST', target: '/api/v1/jobs' },
    mock: 'none',
    servers: 'GET, HEAD',
    of: ({ headers }) => headers['allow'] ?? 'none',
  },
  {
    name: "the mock refuses unknown paths in Prism's own words",
    asked: { target: '/api/v1/nothing' },
    mock: '404 Route not resolved, no path matched',
    servers: '404 not_found',
  },
  {
    name: 'the mock insists on its media type',
    asked: { target: '/api/v1/jobs', headers: { accept: 'text/html' } },
    mock: '406 The server cannot produce a representation for your accept header',
    servers: '200 data',
  },
  {
    name: 'the mock serves browsers',
    asked: { target: '/api/v1/jobs', headers: { origin: 'https://app.example' } },
    mock: 'https://app.example',
    servers: 'none',
    of: ({ headers }) => headers['access-control-allow-origin'] ?? 'none',
  },
  {
    name: 'the mock serves the smallest file that is a PDF, the servers the whole document',
    asked: { target: SETTLED_PDF },
    mock: 'the example',
    servers: 'a document',
    of: ({ body }) => {
      const [example] = declaredResponse('getInvoicePdf', 200).examples;
      return body === example?.value
        ? 'the example'
        : body.includes('/OutputIntents')
          ? 'a document'
          : 'neither';
    },
  },
];

t.test('the mock differs from the servers as declared, and so do the servers from the mock', async (t) => {
  for (const { name, asked, asker = 'reader', mock: byMock, servers, of = outcome } of differences) {
    t.not(byMock, servers, name);
    for (const party of [mock, sqlite, postgres]) {
      const headers = { ...headersOf(party, asker), ...asked.headers };
      const answer = await ask(party.urls.normal, { ...asked, headers });
      t.equal(of(answer), party.name === 'mock' ? byMock : servers, `${name}: ${party.name}`);
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
