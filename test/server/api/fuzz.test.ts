// Long: it sends thousands of random requests.
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';

import type { Answer } from '../../contract/_exchange.ts';
import { conformanceProblems } from '../../contract/_conformance.ts';
import { type EngineName, startExampleServer } from '../../_server.ts';
import { examplesOf, knownPath } from '../../contract/_contract.ts';
import { exchangeRaw, openWire, type Wire } from './_raw.ts';
import { type FuzzedRequest, fuzzedRequests, wireOf } from './_requests.ts';

const WIRES = 6;
const BATCH = 50;

async function start(t: Test, name: EngineName) {
  const server = await startExampleServer(name);
  const { key } = server;
  const wires = Array.from({ length: WIRES }, () => openWire(server.url));
  t.teardown(async () => {
    for (const wire of wires) wire[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });
  /** Sends requests over a few connections, each of which takes the next one when it is free. */
  const sendAll = async <T>(items: readonly T[], send: (wire: Wire, item: T) => Promise<void>) => {
    const queue = [...items];
    await Promise.all(
      wires.map(async (wire) => {
        for (let item = queue.shift(); item !== undefined; item = queue.shift()) await send(wire, item);
      }),
    );
  };
  const isWell = async () => {
    const target = knownPath('getInvoice');
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const [answer] = await exchangeRaw(server.url, request);
    return isDeepStrictEqual(JSON.parse(answer?.body ?? '{}'), examplesOf('getInvoice', 200)[0]?.value);
  };
  return { server, key, sendAll, isWell };
}

/** Asks again as a client does, when the server takes the work of this test, in its own process, for a load of its own. */
async function patiently<A extends Answer | undefined>(send: () => Promise<A>): Promise<A> {
  for (let tries = 0; ; tries += 1) {
    const answer = await send();
    if (answer?.status !== 503 || answer.headers['retry-after'] !== '1' || tries === 5) return answer;
    await pause(1_000);
  }
}

/** The statuses that a request of the contract can get. */
function expectedStatuses({ target, isKnown, isRight, id }: FuzzedRequest): number[] {
  if (!isKnown) return [401];
  // A cursor is opened for a path that could be one; of a malformed id it is known before that there is nothing.
  if (!isRight) return id === 'unknown' && target.includes('cursor=') ? [400, 404] : [400];
  if (id === 'unknown') return [404];
  return [200];
}

function problemsOf(request: FuzzedRequest, answer: Answer): string[] {
  const { operationId, method } = request;
  const expected = expectedStatuses(request);
  const isFault = /temporarily unavailable/.test(answer.body);
  return [
    ...(expected.includes(answer.status)
      ? []
      : [`the status is ${answer.status}, not ${expected.join(' or ')}`]),
    ...(isFault ? ['it is a fault'] : []),
    ...conformanceProblems(operationId, answer, { method }),
  ];
}

/** Shows the one request that failed, and how to send it again, rather than the whole batch. */
function report<T>({ failed, errorInstance, seed, counterexamplePath }: fc.RunDetails<T>): void {
  if (failed) throw new Error(`seed ${seed}, path ${counterexamplePath}: ${String(errorInstance)}`);
}

function failWith(problems: readonly string[], request: string, answer: Answer): void {
  if (problems.length === 0) return;
  throw new Error(
    `${problems.join('; ')}\n${request.slice(0, 2_000)}\n${answer.status} ${answer.body.slice(0, 1_000)}`,
  );
}

/** Tries batches of requests; a failure is shown by itself, without the search for a smaller batch. */
async function tryBatches<T>(
  one: fc.Arbitrary<T>,
  numRuns: number,
  tryAll: (batch: T[]) => Promise<unknown>,
) {
  const batches = fc.array(one, { minLength: BATCH, maxLength: BATCH });
  const property = fc.asyncProperty(batches, async (batch) => void (await tryAll(batch)));
  // oxlint-disable-next-line typescript/no-deprecated -- A plugin would take twenty lines for it.
  await fc.assert(property, { numRuns, endOnFailure: true, reporter: report });
}

// PostgreSQL is sent fewer: what it reads otherwise, such as a zero character, comes early.
for (const [name, batches] of Object.entries({ sqlite: 80, postgres: 20 })) {
  t.test(`whatever its parameters and headers, a request gets a declared answer (${name})`, async (t) => {
    // Both are names of engines.
    const { key, sendAll, isWell } = await start(t, name as EngineName);
    await tryBatches(fuzzedRequests(key), batches, async (batch) =>
      sendAll(batch, async (wire, request) => {
        const answer = await patiently(async () => wire.send(wireOf(request), request.method === 'HEAD'));
        failWith(problemsOf(request, answer), wireOf(request), answer);
      }),
    );
    t.ok(await isWell(), 'the server still answers rightly');
  });
}

/** A request that was damaged: bytes changed, left out, doubled or put in, or cut off. */
const damage = fc.record({
  edits: fc.array(
    fc.record({
      at: fc.integer({ min: 0, max: 9_999 }),
      remove: fc.constantFrom(0, 0, 1, 2, 10),
      insert: fc.oneof(
        fc.constantFrom('\0', '\r', '\n', '\r\n', '\r\n\r\n', ' ', '\t', '\x7f', '\xff', '\x1b[2J'),
        fc.constantFrom(':', '/', '?', '#', '%', 'HTTP/1.1'),
        fc.string({ unit: 'binary-ascii', maxLength: 5 }),
        fc.constantFrom(
          'x'.repeat(20_000),
          'A: b\r\n'.repeat(300),
          '\r\nTransfer-Encoding: chunked',
          '\r\nContent-Length: 5',
        ),
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  isCut: fc.constantFrom(false, false, true),
});

t.test('a damaged request is answered as an error, or as what it has become', async (t) => {
  const { server, key, isWell } = await start(t, 'sqlite');
  const whole = `GET ${knownPath('getInvoice')} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nAccept: */*\r\n\r\n`;
  const send = async ({
    edits,
    isCut,
  }: typeof damage extends fc.Arbitrary<infer Damage> ? Damage : never) => {
    let request = whole;
    for (const { at, remove, insert } of edits) {
      const index = Math.floor((at / 10_000) * request.length);
      request = request.slice(0, index) + insert + request.slice(index + remove);
    }
    if (isCut) request = request.slice(0, Math.floor(((edits[0]?.at ?? 0) / 10_000) * request.length));
    // A client that says no more after this; what isn't whole yet will never be.
    const answer = await patiently(async () => {
      const [first] = await exchangeRaw(server.url, request, { halfClose: true });
      return first;
    });
    if (answer) failWith(problemsOfDamaged(answer), request, answer);
    else if (request.trim() !== '') throw new Error(`No answer to ${JSON.stringify(request)}`);
  };
  await tryBatches(damage, 12, async (batch) => Promise.all(batch.map(send)));
  t.ok(await isWell(), 'the server still answers rightly');
});

/** The path / leads to the reference. */
const damagedStatuses = [200, 302, 304, 400, 401, 404, 405];

function problemsOfDamaged({ status, headers, body }: Answer): string[] {
  if (!damagedStatuses.includes(status)) return [`the status is ${status}`];
  if (/\bat .*\.[jt]s:\d+/.test(body)) return ['the body shows a stack'];
  if (status < 400 && (status !== 200 || body === '')) return [];
  if (!headers['content-type']?.startsWith('application/json')) return ['the body is not JSON'];
  const { data, error } = JSON.parse(body) as { data?: unknown; error?: { code: string; message: string } };
  const isAsItShouldBe = status === 200 ? data !== undefined : Boolean(error?.code && error.message);
  return isAsItShouldBe ? [] : ['the body is not that of its status'];
}

t.test('a request that is never finished is answered within 15 seconds, and holds nobody up', async (t) => {
  const { server, key, isWell } = await start(t, 'sqlite');
  const { port } = new URL(server.url);
  const whole = `GET /api/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const startedAt = performance.now();
  const answers = Array.from({ length: 40 }, async (_value, index) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.setEncoding('latin1').on('error', () => undefined);
    let received = '';
    socket.on('data', (text: string) => (received += text));
    socket.write(whole.slice(0, 1 + Math.floor((index / 40) * (whole.length - 2))));
    await new Promise((resolve) => socket.once('close', resolve));
    return { received, seconds: (performance.now() - startedAt) / 1_000 };
  });
  t.ok(await isWell(), 'others are served meanwhile');
  for (const { received, seconds } of await Promise.all(answers)) {
    if (!/^HTTP\/1\.1 408 .*"invalid_request".*headers must .* within 10 seconds/s.test(received))
      t.fail(`the answer is ${received}`);
    if (seconds > 15) t.fail(`it took ${seconds} seconds`);
  }
  t.ok(await isWell(), 'and afterwards');
});
