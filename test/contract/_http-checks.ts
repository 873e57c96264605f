import { isDeepStrictEqual } from 'node:util';

import type { Note } from './_checks.ts';
import {
  codeOf,
  conformanceProblems,
  refusedMethodProblems,
  unknownMethodProblems,
  unknownPathProblems,
} from './_conformance.ts';
import { declaredOperations, knownPath } from './_declared.ts';
import { type Answer, ask, askRaw, parsed } from './_exchange.ts';
import { type Asker, headersOf, type Party } from './_parties.ts';
import { firstDifference } from './_questions.ts';
import { askChecked } from './_reading.ts';

/** Headers that differ from answer to answer, or belong to one connection. */
const volatile = ['date', 'connection', 'keep-alive', 'x-request-id', 'ratelimit'];
const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;
/** Registered methods that few have heard of; a client library may not be able to send them. */
const seldomMethods = ['QUERY', 'PROPFIND', 'REPORT', 'MKCOL', 'LINK', 'PURGE'];
const unknownMethods = ['BREW', 'GETX', 'get', 'Get'];

/** Sends HEAD on a connection of its own, so that not a byte of a body can hide, and compares it with GET. */
export async function heads(party: Party, note: Note): Promise<void> {
  for (const { operationId } of declaredOperations()) {
    const target = knownPath(operationId);
    for (const asker of ['reader', 'wrong'] as const) {
      const get = await askChecked(party, note, { operationId, target, asker });
      const authorization = party.authorization(asker) ?? '';
      const head = await askRaw(party.urls.normal, [
        `HEAD ${target} HTTP/1.1`,
        'Host: 127.0.0.1',
        `Authorization: ${authorization}`,
        'Connection: close',
      ]);
      const what = `HEAD ${target} of the ${asker}`;
      for (const problem of conformanceProblems(operationId, head, { method: 'HEAD' }))
        note(`${what}: ${problem}`);
      if (head.status !== get.status) note(`${what}: the status is ${head.status}, GET's is ${get.status}`);
      const [left, right] = [lasting(head), lasting(get)];
      if (!isDeepStrictEqual(left, right))
        note(`${what}: the header ${firstDifference(left, right, '')} as of GET`);
    }
  }
}

function lasting({ headers }: Answer): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !volatile.includes(name)));
}

/** Sends every other method to every path, with a key and without. */
export async function otherMethods(party: Party, note: Note): Promise<void> {
  for (const { operationId } of declaredOperations()) {
    for (const method of methods) {
      for (const asker of ['reader', 'nobody'] as const) {
        await otherMethod(party, note, { method, target: knownPath(operationId), asker });
      }
    }
  }
  for (const method of seldomMethods) {
    const problems = refusedMethodProblems(await askByMethod(party, method), method);
    for (const problem of problems) note(`${method} of the reader: ${problem}`);
  }
  for (const method of unknownMethods) {
    const problems = unknownMethodProblems(await askByMethod(party, method), method);
    for (const problem of problems) note(`${method} of the reader: ${problem}`);
  }
}

async function askByMethod(party: Party, method: string): Promise<Answer> {
  return askRaw(party.urls.normal, [
    `${method} ${knownPath('listJobs')} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: ${party.authorization('reader') ?? ''}`,
    'Connection: close',
  ]);
}

async function otherMethod(
  party: Party,
  note: Note,
  { method, target, asker }: { method: (typeof methods)[number]; target: string; asker: Asker },
): Promise<void> {
  const answer = await ask(party.urls.normal, { method, target, headers: headersOf(party, asker) });
  const problems = refusedMethodProblems(answer, method);
  const { message } = (parsed(answer) as { error?: { message?: unknown } } | undefined)?.error ?? {};
  if (message !== `This path answers GET and HEAD, not ${method}.`) {
    problems.push(`the message is ${JSON.stringify(message)}`);
  }
  for (const problem of problems) note(`${method} ${target} of the ${asker}: ${problem}`);
}

/** Asks for paths beside those of the contract. */
export async function unknownPaths(party: Party, note: Note): Promise<void> {
  const [first] = declaredOperations();
  const near = declaredOperations().flatMap(({ operationId }) => {
    const path = knownPath(operationId);
    return [`${path}/`, `${path}/nothing`, path.toUpperCase(), path.replace('/v1/', '/v2/'), `/${path}`];
  });
  if (!first || near.length < 60) note('too few paths');
  for (const target of ['/api', '/api/', '/api/v1', '/api/v1/', '/api/v1/nothing', ...near]) {
    // An id of capital letters may be an id; everything else here is no path of the contract.
    if (declaredOperations().some(({ path }) => matches(path, target))) continue;
    for (const asker of ['reader', 'nobody'] as const) {
      const answer = await ask(party.urls.normal, { target, headers: headersOf(party, asker) });
      for (const problem of unknownPathProblems(answer)) note(`${target} of the ${asker}: ${problem}`);
    }
  }
}

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
}

/** Asks for compressed bodies, and again for each with the tags of both representations. */
export async function compressedAnswers(party: Party, note: Note): Promise<void> {
  let compressed = 0;
  for (const { operationId } of declaredOperations()) {
    const target = knownPath(operationId);
    const plain = await askChecked(party, note, { operationId, target });
    const packed = await askChecked(party, note, {
      operationId,
      target,
      headers: { 'accept-encoding': 'gzip' },
    });
    if (packed.body !== plain.body) note(`${target}: the compressed body is another`);
    const isPacked = packed.headers['content-encoding'] === 'gzip';
    // A PDF is compressed in itself.
    const isPackable = plain.headers['content-type'] === 'application/json';
    if (isPacked !== (isPackable && plain.byteCount > 1_024)) {
      note(`${target}: ${plain.byteCount} bytes are ${isPacked ? '' : 'not '}compressed`);
    }
    if (isPacked) compressed += 1;
    if (isPacked === (packed.headers['etag'] === plain.headers['etag'])) {
      note(`${target}: the tags of the two representations are wrong`);
    }
    const again = { 'accept-encoding': 'gzip', 'if-none-match': packed.headers['etag'] ?? '' };
    const { status } = await askChecked(party, note, { operationId, target, headers: again });
    if (status !== 304) note(`${target}: the tag of the compressed body is answered ${status}`);
  }
  if (compressed === 0) note('no body was compressed');
  await acceptedCodings(party, note);
}

/** The codings that may be chosen where a request says this in Accept-Encoding (RFC 9110 section 12.5.3). */
const acceptedBy: readonly [acceptEncoding: string, codings: readonly string[]][] = [
  ['GZIP', ['gzip']],
  ['deflate;q=0, gzip;q=0.5', ['gzip']],
  ['identity;q=0, gzip', ['gzip']],
  ['gzip;q=0', ['identity']],
  ['gzip;q=0.0, identity', ['identity']],
  ['gzip;q=0, *;q=0, identity', ['identity']],
  ['identity', ['identity']],
  ['br', ['identity', 'br']],
  ['nonsense', ['identity']],
];

async function acceptedCodings(party: Party, note: Note): Promise<void> {
  const asked = { operationId: 'listJobs', target: knownPath('listJobs') };
  for (const [acceptEncoding, codings] of acceptedBy) {
    const headers = { 'accept-encoding': acceptEncoding };
    const answer = await askChecked(party, note, { ...asked, headers });
    const coding = answer.headers['content-encoding'] ?? 'identity';
    if (!codings.includes(coding)) note(`Accept-Encoding ${acceptEncoding} is answered with ${coding}`);
  }
}

/** Asks again and again, one after the other and all at once, for answers of several kinds. */
export async function namedAnswers(party: Party, note: Note): Promise<void> {
  const kinds = [
    { target: '/api/v1/jobs', asker: 'reader' },
    { target: '/api/v1/jobs?limit=0', asker: 'reader' },
    { target: '/api/v1/nothing', asker: 'reader' },
    { target: '/api/v1/jobs', asker: 'nobody' },
    { target: '/api/v1/jobs', asker: 'cut off' },
  ] as const;
  const askAll = () =>
    kinds.map(({ target, asker }) => ask(party.urls.normal, { target, headers: headersOf(party, asker) }));
  const answers: Answer[] = [];
  for (let round = 0; round < 3; round++) for (const answer of askAll()) answers.push(await answer);
  answers.push(...(await Promise.all([...askAll(), ...askAll()])));
  const names = new Set<string>();
  for (const { status, headers } of answers) {
    const name = headers['x-request-id'] ?? '';
    if (names.has(name)) note(`an answer with ${status}: ${name} was named before`);
    names.add(name);
  }
}

/** Requests with two things wrong, and the one that counts (design.md section 5). */
const doublyWrong: readonly { asker: Asker; query: string; status: number; code: string }[] = [
  { asker: 'nobody', query: '?limit=0', status: 401, code: 'invalid_key' },
  { asker: 'revoked', query: '?limit=0', status: 401, code: 'revoked_key' },
  { asker: 'unpaid', query: '?limit=0', status: 403, code: 'company_unavailable' },
  { asker: 'cut off', query: '?limit=0', status: 403, code: 'api_not_enabled' },
  { asker: 'unlicensed for invoices:read', query: '?limit=0', status: 403, code: 'module_not_licensed' },
  { asker: 'without invoices:read', query: '?limit=0', status: 403, code: 'missing_scope' },
  { asker: 'uninvoiced', query: '?limit=0', status: 503, code: 'invoicing_not_enabled' },
];

export async function orderOfChecks(party: Party, note: Note): Promise<void> {
  for (const { asker, query, status, code } of doublyWrong) {
    const target = `/api/v1/invoices${query}`;
    const answer = await askChecked(party, note, { operationId: 'listInvoices', target, asker });
    const actual = codeOf(parsed(answer));
    if (answer.status !== status || actual !== code) {
      note(`${target} of ${asker}: ${answer.status} ${actual}, not ${status} ${code}`);
    }
  }
}
