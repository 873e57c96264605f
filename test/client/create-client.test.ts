import t from 'tap';
import { createClient } from '../../src/client/index.ts';
import type { Client, ClientOptions, StoredAnswer } from '../../src/client/index.ts';
import { operations } from '../../src/client/operations.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import { contractDocument } from '../../src/contract/document.ts';
import { operations as contract } from '../contract/_contract.ts';
import { keyFor, startExampleServer } from '../_server.ts';
import { allOf } from './_service.ts';

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());

interface Sent {
  target: string;
  status: number;
  agent?: string;
}

function clientThatTells(options: Partial<ClientOptions> = {}): { client: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const client = createClient({
    baseUrl: server.url,
    key: server.key,
    fetch: async (request) => {
      const answer = await fetch(request);
      const { pathname, search } = new URL(request.url);
      const agent = request.headers.get('User-Agent');
      sent.push({ target: `${pathname}${search}`, status: answer.status, ...(agent && { agent }) });
      return answer;
    },
    ...options,
  });
  return { client, sent };
}

async function read(path: string): Promise<Response> {
  return fetch(`${server.url}${path}`, { headers: { Authorization: `Bearer ${server.key}` } });
}

/** The service's own answer. */
async function dataAt(path: string): Promise<unknown> {
  const { data } = (await (await read(path)).json()) as { data: unknown };
  return data;
}

const ids = { jobId: 'job_0001', invoiceId: '01a0a486-e8e0-7076-ace5-e31611d48e0a' };

t.test('the table of operations has every operation of the contract', async (t) => {
  const paths = Object.entries(contractDocument().paths);
  t.strictSame(
    Object.entries(operations).map(([id, { path }]) => [id, path]),
    paths.map(([path, { get }]) => [get.operationId, path]),
  );
});

t.test('every operation returns what the service says', async (t) => {
  const { client } = clientThatTells();
  for (const { operationId, path, parameters } of contract) {
    const id = operationId as OperationId;
    const { answer } = operations[id];
    const args = parameters.flatMap(({ in: place, example }) => (place === 'path' ? [String(example)] : []));
    const target = path.replace(/\{(\w+)\}/, args[0] ?? '');
    // Each method has its own parameters; here all are called alike.
    const call = client[id] as (...args: unknown[]) => unknown;
    const result = call(...args);
    if (answer === 'list')
      t.strictSame(await allOf(result as AsyncIterable<unknown>), await dataAt(target), id);
    if (answer === 'record') t.strictSame(await result, await dataAt(target), id);
    if (answer === 'file') {
      const bytes = new Uint8Array(await (await read(target)).arrayBuffer());
      t.strictSame(await result, { bytes, fileName: 'INV-2026-0001.pdf' }, id);
    }
  }
});

t.test('a list goes through all of its pages, the largest there are unless told', async (t) => {
  const { client, sent } = clientThatTells();
  const whole = await allOf(client.listInvoices({ status: 'all' }));
  t.match(sent, [{ target: '/api/v1/invoices?limit=100&status=all', status: 200 }]);
  t.equal(sent.length, 1);
  t.strictSame(await allOf(client.listInvoices({ status: 'all', limit: 3 })), whole);
  const parameters = contractDocument().paths['/api/v1/invoices']?.get.parameters;
  t.equal(parameters?.find(({ name }) => name === 'limit')?.schema.maximum, 100);
});

t.test('pages tell where they end, and when they were read; a cursor goes on from there', async (t) => {
  const { client } = clientThatTells();
  const pages = await allOf(client.listJobs({ limit: 4 }).pages());
  t.match(pages, [{ hasMore: true }, { hasMore: false, nextCursor: null }]);
  const lengths = pages.map(({ data }) => data.length);
  t.strictSame(lengths, [4, 2]);
  for (const { date } of pages) t.ok(date && Math.abs(Date.now() - date.getTime()) < 60_000);
  const [rest] = await allOf(client.listJobs({ cursor: pages[0]?.nextCursor ?? '' }).pages());
  t.strictSame(rest?.data, pages[1]?.data);
});

t.test('a loop that is left asks for nothing more, and another one begins again', async (t) => {
  const { client, sent } = clientThatTells();
  const listing = client.listJobs({ limit: 1 });
  for (let times = 1; times <= 2; times += 1) {
    for await (const job of listing) {
      t.equal(job.id, 'job_0001');
      break;
    }
    t.equal(sent.length, times);
  }
});

t.test('what a store has is not sent again', async (t) => {
  const etags = new Map<string, StoredAnswer>();
  const readAll = async (client: Client) => ({
    job: await client.getJob(ids.jobId),
    invoices: await allOf(client.listInvoices({ limit: 4 })),
    pdf: await client.getInvoicePdf(ids.invoiceId),
  });
  const first = clientThatTells({ etags });
  const second = clientThatTells({ etags });
  const before = await readAll(first.client);
  t.strictSame(await readAll(second.client), before);
  const statuses = (sent: Sent[]) => sent.map(({ status }) => status);
  t.strictSame(statuses(first.sent), [200, 200, 200, 200, 200]);
  t.strictSame(statuses(second.sent), [304, 304, 304, 304, 200], 'a PDF is not kept');
  t.strictSame(
    [...etags.keys()].map((url) => url.replace(server.url, '')),
    first.sent.slice(0, 4).map(({ target }) => target),
  );
  etags.set(`${server.url}/api/v1/jobs/${ids.jobId}`, { etag: '"old"', body: '{"data":{}}' });
  t.strictSame(await second.client.getJob(ids.jobId), before.job, 'and what has changed is');
});

t.test('errors have the contract’s codes', async (t) => {
  const { client } = clientThatTells();
  const wrong = (key: string) => clientThatTells({ key }).client;
  const jobsOnly = await keyFor(server.engine, 'brennan', ['jobs:read']);
  const calls: [Promise<unknown>, number, string][] = [
    [client.getJob('job_none'), 404, 'not_found'],
    [wrong('fl.brennan.1.wrong').getJob('job_0001'), 401, 'invalid_key'],
    [wrong(jobsOnly).getCustomer('cus_0001'), 403, 'missing_scope'],
    [allOf(client.listJobs({ limit: 101 })), 400, 'invalid_parameter'],
    [allOf(client.listJobs({ cursor: '1abc' })), 400, 'invalid_cursor'],
  ];
  for (const [call, status, code] of calls) {
    await t.rejects(call, { name: 'ApiError', status, code, requestId: /./ });
  }
});

t.test('the base address may be written in any of its ways', async (t) => {
  for (const end of ['', '/', '/api/v1', '/api/v1/']) {
    const { client, sent } = clientThatTells({ baseUrl: `${server.url}${end}` });
    await client.getJob('job_0001');
    t.match(sent, [{ target: '/api/v1/jobs/job_0001', status: 200 }]);
  }
});

t.test('bad input is refused in a sentence before anything is sent', async (t) => {
  const wrong: [options: object, message: string | RegExp][] = [
    ...['', 'api.example', 'ftp://api.example', 'https://user:word@api.example', 'https://a.example/?b'].map(
      (baseUrl): [object, RegExp] => [{ baseUrl }, /^baseUrl must be an http or https/],
    ),
    ...['', 'two words', 'li\nne', 'schlüssel'].map((key): [object, string] => [
      { key },
      'key must be an API key: visible ASCII without spaces.',
    ]),
    [{ key: undefined }, /^key must be/],
    ...[Infinity, 2 ** 32, 2 ** 31, 0, -1, 0.5, NaN].map((timeoutMs): [object, string] => [
      { timeoutMs },
      `timeoutMs must be a whole number from 1 to 2147483647, not ${timeoutMs}.`,
    ]),
  ];
  for (const [options, message] of wrong)
    t.throws(() => clientThatTells(options), { name: 'TypeError', message });
  await clientThatTells({ timeoutMs: 2 ** 31 - 1 }).client.getJob('job_0001');
  const { client, sent } = clientThatTells();
  for (const id of ['', '.', '..', '/', '?']) {
    const message = `jobId must be an id, which begins with a letter or a digit, not "${id}".`;
    await t.rejects(client.getJob(id), { name: 'TypeError', message });
  }
  // JavaScript lets a Date through, which would be left out.
  const query = { updatedSince: new Date(0) as unknown as string };
  t.throws(() => client.listJobs(query), {
    name: 'TypeError',
    message: /^updatedSince must be a text or a number, not "1970-01-01T00:00:00/,
  });
  await t.rejects(client.getJob('a/../../people'), { code: 'not_found' }, 'a slash stays within the id');
  t.equal(sent.length, 1);
});

t.test('the name of a file is never a path', async (t) => {
  const names: [disposition: string, fileName?: string][] = [
    ['attachment; filename="a.pdf"', 'a.pdf'],
    [`attachment; filename="a.pdf"; filename*=UTF-8''%C3%A4.pdf`, 'ä.pdf'],
    ['attachment; filename="../a.pdf"', '..-a.pdf'],
    [`attachment; filename*=UTF-8''..%2F..%5Ca.pdf`, '..-..-a.pdf'],
    [`attachment; filename="a.pdf"; filename*=UTF-8''%E0%A4`, 'a.pdf'],
    ['attachment'],
    ['attachment; filename=".."'],
    [`attachment; filename*=UTF-8''.`],
    [`attachment; filename*=UTF-8''%E0%A4`],
  ];
  for (const [disposition, fileName] of names) {
    const headers = { 'Content-Disposition': disposition };
    const { client } = clientThatTells({ fetch: async () => new Response('%PDF', { headers }) });
    const read = client.getInvoicePdf(ids.invoiceId);
    if (fileName !== undefined) t.match(await read, { fileName }, disposition);
    else await t.rejects(read, { name: 'ApiError', status: 200, code: undefined }, disposition);
  }
});

t.test('a program can give its name', async (t) => {
  const { client, sent } = clientThatTells({ userAgent: 'acme-sync/2' });
  await client.getJob('job_0001');
  t.match(sent, [{ agent: 'acme-sync/2' }]);
});
