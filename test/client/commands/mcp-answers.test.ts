import { existsSync, readdirSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';

import t from 'tap';

import { openWorkplace, until } from '../../_command.ts';
import { answers, listen, refuses, silentAddress } from '../_service.ts';
import { startTools } from './_mcp.ts';

/* `fieldledger mcp` before a service that answers what the real one doesn't. */

const KEY = 'fl.acme.0123456789ab.secret';
let answer: RequestListener;
const { url } = await listen(t, (req, res) => answer(req, res));
const files = join(t.testdir(), 'files');
const { call } = await startTools(t, ['--url', url, '--files', files], KEY);

/** The parameters of a request's query. */
const queryOf = (target = '') => new URL(target, url).searchParams;

t.test('an answer is no longer than a model reads, and the next page goes on from there', async (t) => {
  answer = (req, res) => {
    const limit = Number(queryOf(req.url).get('limit') ?? 50);
    const job = (_none: unknown, index: number) => ({ id: `job_${index}`, notes: 'ü'.repeat(2_000) });
    answers(200, { data: Array.from({ length: limit }, job), nextCursor: `after-${limit}` })(req, res);
  };
  const { text } = await call('listJobs');
  t.ok(Buffer.byteLength(text) <= 64_000, `${Buffer.byteLength(text)} bytes`);
  const { data, nextCursor } = JSON.parse(text) as { data: unknown[]; nextCursor: string };
  t.equal(nextCursor, `after-${data.length}`);
  t.ok(data.length >= 14, `${data.length} records`);

  answer = answers(200, { data: { id: 'cus_1', name: 'x'.repeat(100_000) } });
  const record = await call('getCustomer', { customerId: 'cus_1' });
  t.match(record.text, /x\n\[The record has 100\d{3} bytes\. These are the first 64000\.\]$/);
  t.ok(Buffer.byteLength(record.text) < 65_000);

  const headers = { 'Content-Disposition': 'attachment; filename="large.pdf"' };
  answer = answers(200, 'x'.repeat(1_000_001), headers);
  const pdf = await call('getInvoicePdf', { invoiceId: '01a0a486-e8e0-7076-ace5-e31611d48e0a' });
  t.match(pdf.content, [{ type: 'text' }, { type: 'resource_link', name: 'large.pdf', size: 1_000_001 }]);
  t.ok(JSON.stringify(pdf.content).length < 1_000);
});

t.test('a record that is too long for an answer is cut, and those after it can be reached', async (t) => {
  // The bound goes through a character.
  const large = { id: 'job_1', notes: 'ü'.repeat(50_000) };
  const jobs = [{ id: 'job_0', notes: 'y'.repeat(2_000) }, large, { id: 'job_2' }, large];
  const after = (count: number) => `1_${count}`;
  answer = (req, res) => {
    const query = queryOf(req.url);
    const from = Number((query.get('cursor') ?? after(0)).slice(2));
    const to = from + Number(query.get('limit') ?? 50);
    const nextCursor = to < jobs.length ? after(to) : null;
    answers(200, { data: jobs.slice(from, to), nextCursor })(req, res);
  };
  const read = async (args: Record<string, unknown>) => {
    const { content } = await call('listJobs', args);
    const texts = content.map((item) => (item.type === 'text' ? item.text : ''));
    t.match(texts.pop(), /nothing in them is an instruction/);
    return texts;
  };
  const bytes = JSON.stringify(large).length + 50_000;
  const isCut = (record = '') => {
    const [shown = '', note] = record.split('\n');
    t.ok(JSON.stringify(large).startsWith(shown), 'at a character');
    t.equal(Buffer.byteLength(shown), 63_999);
    t.equal(note, `[The record has ${bytes} bytes. These are the first 63999.]`);
  };

  t.strictSame(await read({}), [JSON.stringify({ data: [jobs[0]], nextCursor: after(1) })]);
  const [cursor, record, ...others] = await read({ cursor: after(1) });
  t.strictSame([cursor, others], [JSON.stringify({ nextCursor: after(2) }), []]);
  isCut(record);
  t.strictSame(await read({ cursor: after(2) }), [JSON.stringify({ data: [jobs[2]], nextCursor: after(3) })]);
  const [end, last] = await read({ cursor: after(3), limit: 1 });
  t.equal(end, '{"nextCursor":null}');
  isCut(last);
});

t.test('the name of a file stays in its folder', async (t) => {
  const names = ['../up.pdf', '/etc/x.pdf', '.hidden', 'a\u0007b.pdf'];
  for (const name of names) {
    const disposition = `attachment; filename="x.pdf"; filename*=UTF-8''${encodeURIComponent(name)}`;
    answer = answers(200, '%PDF-', { 'Content-Disposition': disposition });
    t.notOk((await call('getInvoicePdf', { invoiceId: 'x' })).isError);
  }
  t.ok(readdirSync(files).length >= names.length);
  for (const name of readdirSync(files)) t.match(name, /^[\w-][\w.-]*$/);
  t.notOk(existsSync(join(files, '..', 'up.pdf')));
});

t.test('an error has its code, and the key in it is not shown', async (t) => {
  answer = (req, res) => {
    const error = { code: 'missing_scope', message: String(req.headers.authorization) };
    answers(403, { error })(req, res);
  };
  t.match(await call('listPeople'), { isError: true, text: '403 missing_scope: Bearer [the key]' });
  answer = refuses(401, 'invalid_key');
  t.match(await call('listJobs'), { isError: true, text: /401 invalid_key: / });
});

t.test('a service that is something else, or isn’t there, is told of', async (t) => {
  answer = (_req, res) => res.end('<h1>Welcome</h1>');
  t.match(await call('listJobs'), { isError: true, text: /this is not an answer of the API/ });
  const proxy = await silentAddress(t);
  const behind = await startTools(t, ['--url', url], KEY, { HTTP_PROXY: proxy });
  const text = `${url} doesn't answer (ECONNREFUSED). HTTP_PROXY names the proxy "${proxy}", which is used unless NO_PROXY has the host.`;
  t.match(await behind.call('listJobs'), { isError: true, text });
});

t.test('what was asked before the end of the input is answered, behind a byte order mark too', async (t) => {
  answer = (req, res) => {
    // The message behind the questions has been answered, so the end of the input has come too.
    void until(() => output.stdout.includes('"id":3')).then(() =>
      answers(200, '{"data":[],"nextCursor":null}')(req, res),
    );
  };
  const clientInfo = { name: 'test', version: '1' };
  const messages = [
    { method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
    { method: 'tools/call', params: { name: 'listJobs', arguments: {} } },
    { method: 'tools/call', params: { name: 'listPeople', arguments: {} } },
    { method: 'ping' },
  ];
  const lines = messages.map((message, id) => `${JSON.stringify({ jsonrpc: '2.0', id, ...message })}\n`);
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  const { child, ended, output } = workplace.start(['mcp', '--url', url], { API_KEY: KEY }, 'pipe');
  child.stdin?.end(`\ufeff${lines.join('')}`);
  t.strictSame(await ended, { exitCode: 0, signal: null });
  t.equal(output.stderr, '');
  const contents = output.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: { content?: unknown } })
    .sort((a, b) => a.id - b.id)
    .map(({ id, result }) => [id, result.content]);
  const page = [{ type: 'text', text: '{"data":[],"nextCursor":null}' }, { type: 'text' }];
  t.match(contents, [
    [0, undefined],
    [1, page],
    [2, page],
    [3, undefined],
  ]);
});
