import { invoicingModules, moduleOf, type Scope, scopes } from '../../src/contract/scopes.ts';
import { operationOf } from './_contract.ts';
import { ask, type Exam, expect, withParameters } from './_exam.ts';
import { absentPath, answeredOperations, anyList, listsOf, operationsFor } from './_lists.ts';
import { type Asker, NotGiven } from './_parties.ts';

const INVALID = '401 invalid_key';

/** Why an asker may not use a scope, (openapi.yaml, "Errors and retries"). */
type Refusal = (scope: Scope) => string | undefined;

/** Every asker of the reader's company or of one that is switched otherwise, with the reason why each is refused. */
const refusals = new Map<Asker, Refusal>([
  ['nobody', () => INVALID],
  ['wrong', () => INVALID],
  ['revoked', () => '401 revoked_key'],
  ['unpaid', () => '403 company_unavailable'],
  ['cut off', () => '403 api_not_enabled'],
  [
    'uninvoiced',
    (scope) => (invoicingModules.includes(moduleOf(scope)) ? '503 invoicing_not_enabled' : undefined),
  ],
  ['reader', () => undefined],
  ...scopes.flatMap((own): [Asker, Refusal][] => [
    [`without ${own}`, (scope) => (scope === own ? '403 missing_scope' : undefined)],
    [`with ${own} alone`, (scope) => (scope === own ? undefined : '403 missing_scope')],
    [`unlicensed for ${own}`, (scope) => (scope === own ? '403 module_not_licensed' : undefined)],
    [`licensed for ${own} alone`, (scope) => (scope === own ? undefined : '403 module_not_licensed')],
  ]),
]);
export const refusedAskers = [...refusals.keys()];

/**
 * Asks every operation for an asker. A path that has an id gets one that names nothing, so that whoever may read it
 * gets 404, and nobody else learns as much. Whatever is refused to a known key tells the key's allowance.
 */
export async function readsOf(exam: Exam, asker: Asker): Promise<void> {
  for (const operation of await operationsFor(exam, asker)) {
    const { operationId, path, scope } = operation;
    const target = absentPath(operation);
    const refusal = refusals.get(asker)?.(scope);
    const asked = { operationId, target, asker };
    const answers = [await expect(exam, asked, refusal ?? (target === path ? '200' : '404 not_found'))];
    if (refusal !== INVALID) {
      const query = { ...asked, target: `${target}?nothing=1` };
      answers.push(await expect(exam, query, refusal ?? '400 invalid_parameter'));
    }
    for (const { status, headers } of answers) {
      if (status === 401) continue;
      for (const name of ['RateLimit', 'RateLimit-Policy'].filter((one) => !(one.toLowerCase() in headers)))
        exam.note(`${target}: ${status} without ${name}`);
    }
  }
}

/** Asks with a tag that is right, and with one that any body has, as somebody who may not read the body. */
export async function unchangedFor(exam: Exam, asker: Asker): Promise<void> {
  let count = 0;
  for (const { operationId, target } of await answeredOperations(exam)) {
    const { scope, parameters } = operationOf(operationId);
    // Another company has no such invoice and no such quote; of jobs and customers it has others under the same ids.
    const isOwn = parameters.some(({ in: place, schema }) => place === 'path' && schema.format === 'uuid');
    const wanted = asker === 'neighbour' ? isOwn && '404 not_found' : refusals.get(asker)?.(scope);
    if (wanted === undefined || wanted === false) continue;
    count += 1;
    const tag = (await ask(exam, { operationId, target })).headers['etag'] ?? '';
    for (const ifNoneMatch of [tag, '*']) {
      const what = `${target} with If-None-Match ${ifNoneMatch} for ${asker}`;
      const headers = { 'if-none-match': ifNoneMatch };
      await expect(exam, { operationId, target, asker, headers }, wanted, what);
    }
  }
  if (count === 0) throw new NotGiven(`a record that ${asker} may not read`);
}

const other = (text: string) => text.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
const swapped = (text: string) =>
  text.replace(/[a-z]/i, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()));
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Authorizations that let the key in. The scheme's letters may be of any size, and several blanks may follow it (RFC 9110 section 11). */
const rightForms: Readonly<Record<string, (key: string) => string>> = {
  bearer: (key) => `bearer ${key}`,
  BEARER: (key) => `BEARER ${key}`,
  'two blanks before the key': (key) => `Bearer  ${key}`,
  'blanks around the header': (key) => `  Bearer ${key}  `,
};

/** Authorizations that don't, by the key and its parts. */
const wrongForms: Readonly<Record<string, (key: string, ...parts: string[]) => string>> = {
  'no scheme': (key) => key,
  Basic: (key) => `Basic ${key}`,
  'Basic with the key as the name': (key) => `Basic ${base64(`${key}:`)}`,
  'Basic with the key as the password': (key) => `Basic ${base64(`api:${key}`)}`,
  Token: (key) => `Token ${key}`,
  ApiKey: (key) => `ApiKey ${key}`,
  Key: (key) => `Key ${key}`,
  JWT: (key) => `JWT ${key}`,
  'Bearer,': (key) => `Bearer, ${key}`,
  'Bearer:': (key) => `Bearer: ${key}`,
  Bearers: (key) => `Bearers ${key}`,
  'a tab after the scheme': (key) => `Bearer\t${key}`,
  'no blank after the scheme': (key) => `Bearer${key}`,
  'the scheme alone': () => 'Bearer',
  'the key twice': (key) => `Bearer ${key} ${key}`,
  'the key twice, with a comma': (key) => `Bearer ${key}, Bearer ${key}`,
  'a parameter after the key': (key) => `Bearer ${key}, realm="api"`,
  'a quoted key': (key) => `Bearer "${key}"`,
  'a named key': (key) => `Bearer token=${key}`,
  'another prefix': (_key, prefix = '', ...rest) => `Bearer ${[other(prefix), ...rest].join('.')}`,
  'no prefix': (_key, _prefix, ...rest) => `Bearer ${rest.join('.')}`,
  'a prefix in other letters': (_key, prefix = '', ...rest) =>
    `Bearer ${[swapped(prefix), ...rest].join('.')}`,
  'another company': (_key, prefix, company = '', id, secret) =>
    `Bearer ${prefix}.${other(company)}.${id}.${secret}`,
  'no company': (_key, prefix, _company, id, secret) => `Bearer ${prefix}..${id}.${secret}`,
  'a company in other letters': (_key, prefix, company = '', id, secret) =>
    `Bearer ${prefix}.${swapped(company)}.${id}.${secret}`,
  'another id': (_key, prefix, company, id = '', secret) =>
    `Bearer ${prefix}.${company}.${other(id)}.${secret}`,
  'the beginning of a secret': (key) => `Bearer ${key.slice(0, -1)}`,
  'more than a secret': (key) => `Bearer ${key}A`,
  'a secret in other letters': (_key, prefix, company, id, secret = '') =>
    `Bearer ${prefix}.${company}.${id}.${swapped(secret)}`,
  'no secret': (_key, prefix, company, id) => `Bearer ${prefix}.${company}.${id}.`,
  'more than a key': (key) => `Bearer ${key}.x`,
  'an endless key': (key) => `Bearer ${key}${'A'.repeat(5_000)}`,
};

/** Headers and parameters in which no key counts. */
const elsewhere =
  'X-Api-Key Api-Key X-Auth-Token X-Access-Token Access-Token Token Key X-Authorization Proxy-Authorization X-Forwarded-Authorization Authentication'.split(
    ' ',
  );
const parameters = 'access_token api_key apikey key token authorization bearer'.split(' ');

/** Shows the reader's key in every place and form. */
export async function keysAnywhere(exam: Exam): Promise<void> {
  const key = (exam.party.authorization('reader') ?? '').replace(/^Bearer /, '');
  const asked = { ...(await anyList(exam)), asker: 'nobody' } as const;
  const present = (headers: Record<string, string>, wanted: string, what: string) =>
    expect(exam, { ...asked, headers }, wanted, `the key as ${what}`);
  for (const [name, write] of Object.entries(rightForms))
    await present({ authorization: write(key) }, '200', name);
  for (const [name, write] of Object.entries(wrongForms))
    await present({ authorization: write(key, ...key.split('.')) }, INVALID, name);
  for (const name of elsewhere)
    for (const value of [key, `Bearer ${key}`]) await present({ [name]: value }, INVALID, name);
  const cookie = ['access_token', 'api_key', 'token'].map((name) => `${name}=${key}`).join('; ');
  await present({ cookie }, INVALID, 'Cookie');
  for (const name of parameters) {
    const target = withParameters(asked.target, { [name]: key });
    await expect(exam, { ...asked, target }, INVALID, `the key as ?${name}=`);
    await expect(
      exam,
      { ...asked, target, asker: 'reader' },
      '400 invalid_parameter',
      `the reader with ?${name}=`,
    );
  }
}

/** Only who has the secret learns that a key was revoked. */
export async function revokedKeys(exam: Exam): Promise<void> {
  const revoked = exam.party.authorization('revoked') ?? '';
  const asked = { ...(await anyList(exam)), asker: 'nobody' } as const;
  for (const [authorization, wanted, whose] of [
    [revoked, '401 revoked_key', 'its'],
    [other(revoked), INVALID, 'another'],
    [revoked.slice(0, -1), INVALID, 'another'],
  ] as const)
    await expect(
      exam,
      { ...asked, headers: { authorization } },
      wanted,
      `a revoked key with ${whose} secret`,
    );
}

/** Requests for invoices with two things amiss, and the one that is named (openapi.yaml, "Authentication"). */
export const doublyWrong: readonly [asker: Asker, query: string, wanted: string][] = [
  ['nobody', '?limit=0', INVALID],
  ['revoked', '?limit=0', '401 revoked_key'],
  ['unpaid', '?limit=0', '403 company_unavailable'],
  ['cut off', '?limit=0', '403 api_not_enabled'],
  ['unlicensed for invoices:read', '?limit=0', '403 module_not_licensed'],
  ['without invoices:read', '?limit=0', '403 missing_scope'],
  ['uninvoiced', '?limit=0', '503 invoicing_not_enabled'],
  ['unpaid and cut off', '', '403 company_unavailable'],
  ['cut off and unlicensed for invoices:read', '', '403 api_not_enabled'],
  ['unlicensed for and without invoices:read', '', '403 module_not_licensed'],
  ['uninvoiced and without invoices:read', '', '403 missing_scope'],
];

export async function firstReason(
  exam: Exam,
  [asker, query, wanted]: (typeof doublyWrong)[number],
): Promise<void> {
  if (asker.startsWith('with')) await listsOf(exam, 'listInvoices');
  await expect(exam, { operationId: 'listInvoices', target: `/api/v1/invoices${query}`, asker }, wanted);
}
