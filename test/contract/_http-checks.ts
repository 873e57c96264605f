import { isDeepStrictEqual } from 'node:util';

import type { Note } from './_checks.ts';
import {
  codeOf,
  conformanceProblems,
  refusedMethodProblems,
  unknownMethodProblems,
  unknownPathProblems,
} from './_conformance.ts';
import { declaredOperation, declaredOperations, knownPath } from './_declared.ts';
import { type Answer, ask, askAsWritten, parsed, type ReceivedAnswer } from './_exchange.ts';
import { type Asker, headersOf, NotGiven, type Party } from './_parties.ts';
import { absentPath, firstDifference } from './_questions.ts';
import { answeredOperations, anyList, askChecked, listsOf } from './_reading.ts';

/** Headers that differ from answer to answer, or belong to one connection. */
const volatile = ['date', 'connection', 'keep-alive', 'x-request-id', 'ratelimit'];
const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;
/** Registered methods that few have heard of; a client library may not be able to send them. */
const seldomMethods = ['QUERY', 'PROPFIND', 'REPORT', 'MKCOL', 'LINK', 'PURGE'];
const unknownMethods = ['BREW', 'GETX', 'get', 'Get'];

/** Requests whose answer HEAD has to have without its body, beside each operation's own. */
const headed: readonly { asker: Asker; query?: string; path?: string; headers?: Record<string, string> }[] = [
  { asker: 'reader' },
  { asker: 'reader', headers: { 'if-none-match': '*' } },
  { asker: 'reader', headers: { 'if-none-match': '"another"' } },
  { asker: 'reader', headers: { 'accept-encoding': 'gzip' } },
  { asker: 'reader', headers: { range: 'bytes=0-3' } },
  { asker: 'reader', query: '?nothing=1' },
  { asker: 'nobody' },
];

/** Sends HEAD on a connection of its own, so that not a byte of a body can hide, and compares it with GET. */
export async function heads(party: Party, note: Note): Promise<void> {
  for (const { operationId, target: path } of await answeredOperations(party)) {
    const absent = absentPath(declaredOperation(operationId));
    const cases = [
      ...headed.map(({ query = '', ...asked }) => ({ ...asked, target: path + query })),
      ...(absent === path ? [] : [{ asker: 'reader' as const, target: absent, headers: undefined }]),
    ];
    for (const { target, asker, headers = {} } of cases) {
      const get = await askChecked(party, note, { operationId, target, asker, headers });
      const sent = { ...headersOf(party, asker), ...headers };
      const head = await askAsWritten(party.urls.normal, { method: 'HEAD', target, headers: sent });
      const what = [`HEAD ${target} of ${asker}`, ...Object.entries(headers).flat()].join(' ');
      for (const problem of conformanceProblems(operationId, head, { method: 'HEAD' }))
        note(`${what}: ${problem}`);
      if (head.status !== get.status) note(`${what}: the status is ${head.status}, GET's is ${get.status}`);
      const [left, right] = [lasting(head), lasting(get)];
      if (!isDeepStrictEqual(left, right))
        note(`${what}: the header ${firstDifference(left, right, '')} as of GET`);
    }
  }
}

/** Headers that change nothing: not the status, not the body, and not the tag. */
const idleHeaders: readonly [name: string, value: string][] = [
  // The API has no dates of modification and no ranges, so these are to be ignored (RFC 9110 sections 13.1.3 and 14.2).
  ['If-Modified-Since', 'Fri, 01 Jan 2100 00:00:00 GMT'],
  ['If-Modified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['If-Modified-Since', 'yesterday'],
  ['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['If-Range', '"another"'],
  ['Range', 'bytes=0-3'],
  ['Range', 'bytes=99999999-'],
  ['Range', 'bytes=-3'],
  ['Range', 'bytes=0-1,3-4'],
  ['Range', 'lines=1-2'],
  ['Accept', 'text/html'],
  ['Accept', 'application/json;q=0'],
  ['Accept', 'application/vnd.api+json'],
  ['Accept', 'nonsense'],
  ['Accept-Language', 'ga'],
  ['Accept-Charset', 'iso-8859-1'],
  ['Content-Type', 'text/xml'],
  ['Cache-Control', 'only-if-cached'],
  ['Cache-Control', 'no-store'],
  ['Pragma', 'no-cache'],
  ['Cookie', 'session=1; lang=ga'],
  ['Origin', 'https://app.example'],
  ['Sec-Fetch-Site', 'cross-site'],
  ['Referer', 'https://app.example/'],
  ['User-Agent', ''],
  ['X-HTTP-Method-Override', 'DELETE'],
  ['X-HTTP-Method', 'DELETE'],
  ['X-Method-Override', 'DELETE'],
  ['X-Original-URL', '/api/v1/nothing'],
  ['X-Rewrite-URL', '/api/v1/nothing'],
  ['X-Forwarded-Host', 'other.example'],
  ['X-Forwarded-Prefix', '/other'],
  ['X-Forwarded-Proto', 'http'],
  ['X-Request-Id', 'of-the-client'],
  ['Prefer', 'code=404'],
  ['Upgrade-Insecure-Requests', '1'],
  ['X-Requested-With', 'XMLHttpRequest'],
  ['Accept-Version', '2'],
  ['Api-Version', '2'],
  ['X-Company', 'other'],
  ['X-Company-Id', 'other'],
];

/** Sends each of these headers, and compares the answer with the one without it. */
export async function idleHeadersOf(party: Party, note: Note): Promise<void> {
  const list = await anyList(party);
  const all = await answeredOperations(party);
  const pdf = all.filter(({ operationId }) => operationId === 'getInvoicePdf');
  for (const asked of [list, ...pdf]) {
    const plain = await askChecked(party, note, asked);
    for (const [name, value] of idleHeaders) {
      const answer = await askChecked(party, note, { ...asked, headers: { [name]: value } });
      const what = `${asked.target} with ${name}: ${value}`;
      if (answer.status !== plain.status) note(`${what} is answered ${answer.status}, not ${plain.status}`);
      else if (!answer.bytes.equals(plain.bytes)) note(`${what} has another body`);
      else if (answer.headers['etag'] !== plain.headers['etag']) note(`${what} has another tag`);
      if (answer.headers['x-request-id'] === value) note(`${what} takes the client's name for the answer`);
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
  const headers = headersOf(party, 'reader');
  return askAsWritten(party.urls.normal, { method, target: knownPath('listJobs'), headers });
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
  const near = declaredOperations().flatMap(({ operationId }) => {
    const path = knownPath(operationId);
    return [
      ...[`${path}/`, `${path}/nothing`, `${path}.json`, `/${path}`, `${path}%2F`, path.toUpperCase()],
      ...[path.replace('/v1/', '/v2/'), path.replace('/v1/', '//v1/'), path.replace('/v1', '%2Fv1')],
      path.replace(/\/(?=\w+$)/, '%2F'),
    ];
  });
  const others = ['/api', '/api/', '/api/v1', '/api/v1/', '/api/v1/nothing', '/api/v1/jobs;a=b'];
  for (const target of new Set([...others, ...near])) {
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

/** Ways to write an id that name the same record (RFC 3986 section 6.2.2.2, RFC 9562 section 4), and those that don't. */
const writings: readonly [name: string, write: (id: string) => string, isSame: (id: string) => boolean][] = [
  ['its first character escaped', (id) => id.replace(/^./, escaped), () => true],
  ['every character escaped', (id) => id.replaceAll(/./g, escaped), () => true],
  ['escapes in small letters', (id) => id.replaceAll(/./g, (one) => escaped(one).toLowerCase()), () => true],
  ['a query that is empty', (id) => `${id}?`, () => true],
  ['capital letters', (id) => id.toUpperCase(), (id) => isUuid(id) || id === id.toUpperCase()],
  [
    'an escape that is escaped',
    (id) => id.replace(/^./, (one) => escaped(one).replace('%', '%25')),
    () => false,
  ],
  ['an escaped slash at its end', (id) => `${id}%2F`, () => false],
  ['a blank at its end', (id) => `${id}%20`, () => false],
  ['a zero character at its end', (id) => `${id}%00`, () => false],
  ['a line end after it', (id) => `${id}%0A`, () => false],
  ['braces around it', (id) => `%7B${id}%7D`, () => false],
  ['a parameter of the path', (id) => `${id};a=b`, () => false],
  ['less than it', (id) => id.slice(0, -1), () => false],
  ['8,100 characters', (id) => id.padEnd(8_100, 'a'), () => false],
];

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

/** Writes the id of a record of each kind in every way. */
export async function writtenIds(party: Party, note: Note): Promise<void> {
  const all = await answeredOperations(party);
  const ofRecords = all.filter(({ operationId }) => declaredOperation(operationId).path.includes('{'));
  if (ofRecords.length === 0) throw new NotGiven('a record with a path of its own');
  for (const { operationId, target } of ofRecords) {
    const plain = await askChecked(party, note, { operationId, target });
    const [before = '', after = ''] = declaredOperation(operationId).path.split(/\{\w+\}/);
    const id = target.slice(before.length, after === '' ? undefined : -after.length);
    // A query ends the path; before the end of a path it would be another one.
    for (const [name, write, isSame] of writings.filter(
      ([name]) => after === '' || !name.includes('query'),
    )) {
      const headers = headersOf(party, 'reader');
      const answer = await askAsWritten(party.urls.normal, { target: before + write(id) + after, headers });
      const problems = [
        ...conformanceProblems(operationId, answer),
        ...differences(answer, plain, isSame(id) ? 200 : 404),
      ];
      for (const problem of problems) note(`${operationId} with ${name}: ${problem}`);
    }
  }
}

/** Names the fault in the answer to an id that names this record, or that names none: it may then be another's. */
function differences(answer: ReceivedAnswer, plain: ReceivedAnswer, wanted: 200 | 404): string[] {
  const isAlike = answer.bytes.equals(plain.bytes);
  if (wanted === 404 && answer.status === 200 && !isAlike) return [];
  if (answer.status !== wanted) return [`${answer.status}, not ${wanted}`];
  return wanted === 200 && !isAlike ? ['another body'] : [];
}

/** Asks for compressed bodies, and again for each with the tags of both representations. */
export async function compressedAnswers(party: Party, note: Note): Promise<void> {
  let large: { operationId: string; target: string } | undefined;
  for (const { operationId, target } of await answeredOperations(party)) {
    const plain = await askChecked(party, note, { operationId, target });
    const packed = await askChecked(party, note, {
      operationId,
      target,
      headers: { 'accept-encoding': 'gzip' },
    });
    if (packed.body !== plain.body) note(`${target}: the compressed body is another`);
    const isPacked = packed.headers['content-encoding'] === 'gzip';
    // A PDF is compressed in itself.
    const isPackable = plain.headers['content-type'] === 'application/json' && plain.byteCount > 1_024;
    if (isPacked !== isPackable) {
      note(`${target}: ${plain.byteCount} bytes are ${isPacked ? '' : 'not '}compressed`);
    }
    if (isPackable) large ??= { operationId, target };
    if (isPacked === (packed.headers['etag'] === plain.headers['etag'])) {
      note(`${target}: the tags of the two representations are wrong`);
    }
    const again = { 'accept-encoding': 'gzip', 'if-none-match': packed.headers['etag'] ?? '' };
    const { status } = await askChecked(party, note, { operationId, target, headers: again });
    if (status !== 304) note(`${target}: the tag of the compressed body is answered ${status}`);
  }
  if (!large) throw new NotGiven('an answer of more than 1 kB');
  await acceptedCodings(party, note, large);
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

async function acceptedCodings(
  party: Party,
  note: Note,
  asked: { operationId: string; target: string },
): Promise<void> {
  for (const [acceptEncoding, codings] of acceptedBy) {
    const headers = { 'accept-encoding': acceptEncoding };
    const answer = await askChecked(party, note, { ...asked, headers });
    const coding = answer.headers['content-encoding'] ?? 'identity';
    if (!codings.includes(coding)) note(`Accept-Encoding ${acceptEncoding} is answered with ${coding}`);
  }
}

/** Asks again and again, one after the other and all at once, for answers of several kinds. */
export async function namedAnswers(party: Party, note: Note): Promise<void> {
  const { target: list } = await anyList(party);
  const kinds = [
    { target: list, asker: 'reader' },
    { target: `${list}?limit=0`, asker: 'reader' },
    { target: '/api/v1/nothing', asker: 'reader' },
    { target: list, asker: 'nobody' },
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

/** Requests for invoices with two things amiss, and the one that is named (the contract, "Authentication"). */
export const doublyWrong: readonly { asker: Asker; query: string; wanted: string }[] = [
  { asker: 'nobody', query: '?limit=0', wanted: '401 invalid_key' },
  { asker: 'revoked', query: '?limit=0', wanted: '401 revoked_key' },
  { asker: 'unpaid', query: '?limit=0', wanted: '403 company_unavailable' },
  { asker: 'cut off', query: '?limit=0', wanted: '403 api_not_enabled' },
  { asker: 'unlicensed for invoices:read', query: '?limit=0', wanted: '403 module_not_licensed' },
  { asker: 'without invoices:read', query: '?limit=0', wanted: '403 missing_scope' },
  { asker: 'uninvoiced', query: '?limit=0', wanted: '503 invoicing_not_enabled' },
  { asker: 'unpaid and cut off', query: '', wanted: '403 company_unavailable' },
  { asker: 'cut off and unlicensed for invoices:read', query: '', wanted: '403 api_not_enabled' },
  { asker: 'unlicensed for and without invoices:read', query: '', wanted: '403 module_not_licensed' },
  { asker: 'uninvoiced and without invoices:read', query: '', wanted: '403 missing_scope' },
];

export async function firstReason(
  { asker, query, wanted }: (typeof doublyWrong)[number],
  party: Party,
  note: Note,
): Promise<void> {
  if (asker.startsWith('with')) await listsOf(party, 'listInvoices');
  const target = `/api/v1/invoices${query}`;
  const answer = await askChecked(party, note, { operationId: 'listInvoices', target, asker });
  const actual = `${answer.status} ${codeOf(parsed(answer))}`;
  if (actual !== wanted) note(`${target} of ${asker}: ${actual}, not ${wanted}`);
}
