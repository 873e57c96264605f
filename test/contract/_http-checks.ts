import { isDeepStrictEqual } from 'node:util';

import { conformanceProblems, refusedMethodProblems, unknownPathProblems } from './_conformance.ts';
import { knownPath, operationOf, operations } from './_contract.ts';
import { ask, type Exam, expect, firstDifference, type Request } from './_exam.ts';
import { type Answer, exchange, parsed, type ReceivedAnswer, said } from './_exchange.ts';
import { absentPath, answeredOperations, anyList } from './_lists.ts';
import { type Asker, headersOf, NotGiven } from './_parties.ts';

/** Headers that differ from answer to answer, or belong to one connection. */
const volatile = ['date', 'connection', 'keep-alive', 'x-request-id', 'ratelimit'];

/** Sends HEAD on a connection of its own, so that not a byte of a body can hide, and compares it with GET. */
export async function heads(exam: Exam): Promise<void> {
  for (const { operationId, target } of await answeredOperations(exam)) {
    const absent = absentPath(operationOf(operationId));
    const requests: Request[] = [
      { operationId, target },
      { operationId, target, headers: { 'if-none-match': '*' } },
      { operationId, target, headers: { 'if-none-match': '"another"' } },
      { operationId, target, headers: { 'accept-encoding': 'gzip' } },
      { operationId, target, headers: { range: 'bytes=0-3' } },
      { operationId, target: `${target}?nothing=1` },
      { operationId, target, asker: 'nobody' },
      ...(absent === target ? [] : [{ operationId, target: absent }]),
    ];
    for (const request of requests) await compareHead(exam, request);
  }
}

async function compareHead(exam: Exam, request: Request): Promise<void> {
  const get = await ask(exam, request);
  const head = await ask(exam, { ...request, method: 'HEAD', isAsWritten: true });
  const what = ['HEAD', request.target, ...Object.entries(request.headers ?? {}).flat()].join(' ');
  if (head.status !== get.status) exam.note(`${what}: the status is ${head.status}, GET's is ${get.status}`);
  const [left, right] = [head, get].map(({ headers }) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !volatile.includes(name))),
  );
  if (!isDeepStrictEqual(left, right))
    exam.note(`${what}: the header ${firstDifference(left, right)} as of GET`);
}

/** Headers that change nothing, each with values that some server might heed: not the status, not the body, not the tag. */
export const idleHeaders: Readonly<Record<string, readonly string[]>> = {
  // The API has no dates of modification and no ranges, so these are to be ignored (RFC 9110 sections 13.1.3 and 14.2).
  'If-Modified-Since': ['Fri, 01 Jan 2100 00:00:00 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT', 'yesterday'],
  'If-Unmodified-Since': ['Thu, 01 Jan 1970 00:00:00 GMT'],
  'If-Range': ['"another"'],
  Range: ['bytes=0-3', 'bytes=99999999-', 'bytes=-3', 'bytes=0-1,3-4', 'lines=1-2'],
  Accept: ['text/html', 'application/json;q=0', 'application/vnd.api+json', 'nonsense'],
  'Accept-Language': ['ga'],
  'Accept-Charset': ['iso-8859-1'],
  'Content-Type': ['text/xml'],
  'Cache-Control': ['only-if-cached', 'no-store'],
  Pragma: ['no-cache'],
  Cookie: ['session=1; lang=ga'],
  Origin: ['https://app.example'],
  'Sec-Fetch-Site': ['cross-site'],
  Referer: ['https://app.example/'],
  'User-Agent': [''],
  'X-HTTP-Method-Override': ['DELETE'],
  'X-HTTP-Method': ['DELETE'],
  'X-Method-Override': ['DELETE'],
  'X-Original-URL': ['/api/v1/nothing'],
  'X-Rewrite-URL': ['/api/v1/nothing'],
  'X-Forwarded-Host': ['other.example'],
  'X-Forwarded-Prefix': ['/other'],
  'X-Forwarded-Proto': ['http'],
  'X-Request-Id': ['of-the-client'],
  Prefer: ['code=404'],
  'Upgrade-Insecure-Requests': ['1'],
  'X-Requested-With': ['XMLHttpRequest'],
  'Accept-Version': ['2'],
  'Api-Version': ['2'],
  'X-Company': ['other'],
  'X-Company-Id': ['other'],
};

/** Sends each of these headers, and compares the answer with the one without it. */
export async function idleHeadersOf(exam: Exam): Promise<void> {
  const pdf = (await answeredOperations(exam)).filter(({ operationId }) => operationId === 'getInvoicePdf');
  const headers = Object.entries(idleHeaders).flatMap(([name, values]) =>
    values.map((value) => [name, value]),
  );
  for (const asked of [await anyList(exam), ...pdf]) {
    const plain = await ask(exam, asked);
    for (const [name = '', value = ''] of headers) {
      const what = `${asked.target} with ${name}: ${value}`;
      const answer = await expect(exam, { ...asked, headers: { [name]: value } }, said(plain), what);
      if (answer.headers['x-request-id'] === value)
        exam.note(`${what} takes the client's name for the answer`);
      if (answer.status !== plain.status) continue;
      if (!answer.bytes.equals(plain.bytes)) exam.note(`${what} has another body`);
      if (answer.headers['etag'] !== plain.headers['etag']) exam.note(`${what} has another tag`);
    }
  }
}

const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
/** Registered methods that few have heard of, and some that HTTP doesn't have: these may be told that they aren't HTTP. */
const seldomMethods = ['QUERY', 'PROPFIND', 'REPORT', 'MKCOL', 'LINK', 'PURGE'];
const unknownMethods = ['BREW', 'GETX', 'get', 'Get'];

/** Sends every other method to every path, with a key and without. */
export async function otherMethods({ party, note }: Exam): Promise<void> {
  const send = async (method: string, operationId: string, asker: Asker, isAsWritten = false) => {
    const target = knownPath(operationId);
    const headers = headersOf(party, asker);
    const answer = await exchange(party.urls.normal, { method, target, headers, isAsWritten });
    const isNoHttp = unknownMethods.includes(method) && answer.status === 400;
    const problems = isNoHttp
      ? conformanceProblems(operationId, answer, { method })
      : refusedMethodProblems(answer, method);
    const { message } = (parsed(answer) as { error?: { message?: unknown } } | undefined)?.error ?? {};
    if (!isNoHttp && message !== `This path answers GET and HEAD, not ${method}.`)
      problems.push(`the message is ${JSON.stringify(message)}`);
    for (const problem of problems) note(`${method} ${target} of the ${asker}: ${problem}`);
  };
  for (const { operationId } of operations) {
    for (const method of methods)
      for (const asker of ['reader', 'nobody'] as const) await send(method, operationId, asker);
  }
  for (const method of [...seldomMethods, ...unknownMethods]) await send(method, 'listJobs', 'reader', true);
}

/** Asks for paths beside those of the contract. */
export async function unknownPaths({ party, note }: Exam): Promise<void> {
  const near = operations.flatMap(({ operationId }) => {
    const path = knownPath(operationId);
    return [
      ...[`${path}/`, `${path}/nothing`, `${path}.json`, `/${path}`, `${path}%2F`, path.toUpperCase()],
      ...[path.replace('/v1/', '/v2/'), path.replace('/v1/', '//v1/'), path.replace('/v1', '%2Fv1')],
      path.replace(/\/(?=\w+$)/, '%2F'),
    ];
  });
  const others = ['/api', '/api/', '/api/v1', '/api/v1/', '/api/v1/nothing', '/api/v1/jobs;a=b'];
  const templates = operations.map(({ path }) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`));
  for (const target of new Set([...others, ...near])) {
    // An id of capital letters may be an id; everything else here is no path of the contract.
    if (templates.some((template) => template.test(target))) continue;
    for (const asker of ['reader', 'nobody'] as const) {
      const answer = await exchange(party.urls.normal, { target, headers: headersOf(party, asker) });
      for (const problem of unknownPathProblems(answer)) note(`${target} of the ${asker}: ${problem}`);
    }
  }
}

const escaped = (text: string) =>
  text.replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
const isUuid = (id: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);

/** Ways to write an id that name the same record (RFC 3986 section 6.2.2.2, RFC 9562 section 4), and those that don't. */
const writings: readonly [name: string, write: (id: string) => string, isSame: (id: string) => boolean][] = [
  ['its first character escaped', (id) => id.replace(/^./, escaped), () => true],
  ['every character escaped', escaped, () => true],
  ['escapes in small letters', (id) => escaped(id).toLowerCase(), () => true],
  ['a query that is empty', (id) => `${id}?`, () => true],
  ['capital letters', (id) => id.toUpperCase(), (id) => isUuid(id) || id === id.toUpperCase()],
  ['an escape that is escaped', (id) => id.replace(/^./, escaped).replace('%', '%25'), () => false],
  ['an escaped slash at its end', (id) => `${id}%2F`, () => false],
  ['a blank at its end', (id) => `${id}%20`, () => false],
  ['a zero character at its end', (id) => `${id}%00`, () => false],
  ['a line end after it', (id) => `${id}%0A`, () => false],
  ['braces around it', (id) => `%7B${id}%7D`, () => false],
  ['a parameter of the path', (id) => `${id};a=b`, () => false],
  ['less than it', (id) => id.slice(0, -1), () => false],
  ['8,100 characters', (id) => id.padEnd(8_100, 'a'), () => false],
];

/** Writes the id of a record of each kind in every way. */
export async function writtenIds(exam: Exam): Promise<void> {
  const ofRecords = (await answeredOperations(exam)).filter(({ operationId }) =>
    operationOf(operationId).path.includes('{'),
  );
  if (ofRecords.length === 0) throw new NotGiven('a record with a path of its own');
  for (const asked of ofRecords) {
    const plain = await ask(exam, asked);
    const [before = '', after = ''] = operationOf(asked.operationId).path.split(/\{\w+\}/);
    const id = asked.target.slice(before.length, after === '' ? undefined : -after.length);
    // A query ends the path; before the end of a path it would be another one.
    for (const [name, write, isSame] of writings.filter(([one]) => after === '' || !one.includes('query'))) {
      const written = { ...asked, target: before + write(id) + after, isAsWritten: true };
      const problem = problemOfId(await ask(exam, written), plain, isSame(id));
      if (problem !== undefined) exam.note(`${asked.operationId} with ${name}: ${problem}`);
    }
  }
}

/** The fault in the answer to an id that names this record, or that names none: it may then be another's. */
function problemOfId(answer: ReceivedAnswer, plain: ReceivedAnswer, isSame: boolean): string | undefined {
  const isAlike = answer.bytes.equals(plain.bytes);
  if (answer.status === 200 && !isAlike) return isSame ? 'another body' : undefined;
  const wanted = isSame ? '200' : '404 not_found';
  return said(answer) === wanted ? undefined : `${said(answer)}, not ${wanted}`;
}

/** The codings that may be chosen where a request says this in Accept-Encoding (RFC 9110 section 12.5.3). */
const acceptedBy: Readonly<Record<string, readonly string[]>> = {
  GZIP: ['gzip'],
  'deflate;q=0, gzip;q=0.5': ['gzip'],
  'identity;q=0, gzip': ['gzip'],
  'gzip;q=0': ['identity'],
  'gzip;q=0.0, identity': ['identity'],
  'gzip;q=0, *;q=0, identity': ['identity'],
  identity: ['identity'],
  br: ['identity', 'br'],
  nonsense: ['identity'],
};

/** Asks for compressed bodies, and again for each with the tags of both representations. */
export async function compressedAnswers(exam: Exam): Promise<void> {
  let large: Request | undefined;
  for (const asked of await answeredOperations(exam)) {
    const plain = await ask(exam, asked);
    // A PDF is compressed in itself.
    const isPackable = plain.headers['content-type'] === 'application/json' && plain.byteCount > 1_024;
    if (isPackable) large ??= asked;
    await comparePacked(exam, asked, plain, isPackable);
  }
  if (!large) throw new NotGiven('an answer of more than 1 kB');
  for (const [acceptEncoding, codings] of Object.entries(acceptedBy)) {
    const { headers } = await ask(exam, { ...large, headers: { 'accept-encoding': acceptEncoding } });
    const coding = headers['content-encoding'] ?? 'identity';
    if (!codings.includes(coding)) exam.note(`Accept-Encoding ${acceptEncoding} is answered with ${coding}`);
  }
}

async function comparePacked(exam: Exam, asked: Request, plain: Answer, isPackable: boolean): Promise<void> {
  const { target } = asked;
  const packed = await ask(exam, { ...asked, headers: { 'accept-encoding': 'gzip' } });
  const isPacked = packed.headers['content-encoding'] === 'gzip';
  if (packed.body !== plain.body) exam.note(`${target}: the compressed body is another`);
  if (isPacked !== isPackable)
    exam.note(`${target}: ${plain.byteCount} bytes are ${isPacked ? '' : 'not '}compressed`);
  if (isPacked === (packed.headers['etag'] === plain.headers['etag']))
    exam.note(`${target}: the tags of the two representations are wrong`);
  const again = { 'accept-encoding': 'gzip', 'if-none-match': packed.headers['etag'] ?? '' };
  await expect(exam, { ...asked, headers: again }, '304', `${target} with the tag of the compressed body`);
}

/** Asks again and again, one after the other and all at once, for answers of several kinds. */
export async function namedAnswers(exam: Exam): Promise<void> {
  const { party, note } = exam;
  const { target } = await anyList(exam);
  const kinds: [target: string, asker: Asker][] = [
    [target, 'reader'],
    [`${target}?limit=0`, 'reader'],
    ['/api/v1/nothing', 'reader'],
    [target, 'nobody'],
  ];
  const askAll = () =>
    kinds.map(([target, asker]) => exchange(party.urls.normal, { target, headers: headersOf(party, asker) }));
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
