import { type Module, moduleOf, type Scope, scopes } from '../../src/contract/scopes.ts';
import type { Note } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { declaredOperation } from './_declared.ts';
import { type Answer, parsed } from './_exchange.ts';
import { type Asker, NotGiven, type Party } from './_parties.ts';
import { absentPath } from './_questions.ts';
import { answeredOperations, anyList, askChecked, operationsFor, withParameters } from './_reading.ts';

/** Why somebody is refused, as `status code`. */
type Refusal = string | undefined;

interface Right {
  asker: Asker;
  refusal: (scope: Scope) => Refusal;
}

const needsInvoicing: readonly Module[] = ['invoices', 'quotes'];

/** The rights of each asker (openapi.yaml, "Errors and retries"). */
const rights: readonly Right[] = [
  { asker: 'nobody', refusal: () => '401 invalid_key' },
  { asker: 'wrong', refusal: () => '401 invalid_key' },
  { asker: 'revoked', refusal: () => '401 revoked_key' },
  { asker: 'unpaid', refusal: () => '403 company_unavailable' },
  { asker: 'cut off', refusal: () => '403 api_not_enabled' },
  {
    asker: 'uninvoiced',
    refusal: (scope) => (needsInvoicing.includes(moduleOf(scope)) ? '503 invoicing_not_enabled' : undefined),
  },
  { asker: 'reader', refusal: () => undefined },
  ...scopes.flatMap((one) => [
    right(`without ${one}`, (scope) => (scope === one ? '403 missing_scope' : undefined)),
    right(`with ${one} alone`, (scope) => (scope === one ? undefined : '403 missing_scope')),
    right(`unlicensed for ${one}`, (scope) => (scope === one ? '403 module_not_licensed' : undefined)),
    right(`licensed for ${one} alone`, (scope) => (scope === one ? undefined : '403 module_not_licensed')),
  ]),
];

function right(asker: Asker, refusal: Right['refusal']): Right {
  return { asker, refusal };
}

/** Every asker, with the reason why an operation refuses them. */
export const refusedAskers = rights.map(({ asker }) => asker);

function refusalOf(asker: Asker, scope: Scope): Refusal {
  return rights.find((right) => right.asker === asker)?.refusal(scope);
}

/**
 * Asks every operation for an asker. A path that has an id gets one that names nothing, so that whoever may read it
 * gets 404, and nobody else learns as much.
 */
export async function readsOf(asker: Asker, party: Party, note: Note): Promise<void> {
  for (const operation of await operationsFor(asker, party)) {
    const target = absentPath(operation);
    const wanted = refusalOf(asker, operation.scope) ?? (target === operation.path ? '200' : '404 not_found');
    const answer = await askChecked(party, note, { operationId: operation.operationId, target, asker });
    if (outcomeOf(answer) !== wanted) {
      note(`${target} for ${asker}: ${outcomeOf(answer)}, not ${wanted}`);
    }
  }
}

/** Asks with a tag that is right, and with one that any body has, as somebody who may not read the body. */
export async function unchangedFor(asker: Asker, party: Party, note: Note): Promise<void> {
  let count = 0;
  for (const { operationId, target } of await answeredOperations(party)) {
    const operation = declaredOperation(operationId);
    // Another company has no such invoice and no such quote; of jobs and customers it has others under the same ids.
    const isOwn = operation.parameters.some(
      ({ in: place, schema }) => place === 'path' && schema.format === 'uuid',
    );
    const wanted =
      asker === 'neighbour' ? (isOwn ? '404 not_found' : undefined) : refusalOf(asker, operation.scope);
    if (wanted === undefined) continue;
    count += 1;
    const tag = (await askChecked(party, note, { operationId, target })).headers['etag'] ?? '';
    for (const ifNoneMatch of [tag, '*']) {
      const headers = { 'if-none-match': ifNoneMatch };
      const answer = await askChecked(party, note, { operationId, target, asker, headers });
      if (outcomeOf(answer) !== wanted) {
        note(`${target} with If-None-Match ${ifNoneMatch} for ${asker}: ${outcomeOf(answer)}, not ${wanted}`);
      }
    }
  }
  if (count === 0) throw new NotGiven(`a record that ${asker} may not read`);
}

function outcomeOf(answer: Answer): string {
  return answer.status < 400 ? String(answer.status) : `${answer.status} ${codeOf(parsed(answer))}`;
}

type Presentation = [name: string, headers: Record<string, string>, wanted: string];

/** A key in every place and form, and what is answered. */
function presentations(key: string): Presentation[] {
  const [prefix = '', company = '', id = '', secret = ''] = key.split('.');
  const right = (name: string, authorization: string): Presentation => [name, { authorization }, '200'];
  const wrong = (name: string, authorization: string): Presentation => [name, { authorization }, INVALID];
  const elsewhere = (name: string, header: string, value = key): Presentation => [
    name,
    { [header]: value },
    INVALID,
  ];
  const other = (text: string) => text.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  const swapped = (text: string) =>
    text.replace(/[a-z]/i, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    );
  const withParts = (...parts: string[]) => `Bearer ${parts.join('.')}`;
  return [
    // The scheme's letters may be of any size, and several blanks may follow it (RFC 9110 section 11).
    right('bearer', `bearer ${key}`),
    right('BEARER', `BEARER ${key}`),
    right('two blanks before the key', `Bearer  ${key}`),
    right('blanks around the header', `  Bearer ${key}  `),
    wrong('no scheme', key),
    wrong('Basic', `Basic ${key}`),
    wrong('Basic with the key as the name', `Basic ${Buffer.from(`${key}:`).toString('base64')}`),
    wrong('Basic with the key as the password', `Basic ${Buffer.from(`api:${key}`).toString('base64')}`),
    ...['Token', 'ApiKey', 'Key', 'JWT', 'Bearer,', 'Bearer:', 'Bearers'].map((scheme) =>
      wrong(scheme, `${scheme} ${key}`),
    ),
    wrong('a tab after the scheme', `Bearer\t${key}`),
    wrong('no blank after the scheme', `Bearer${key}`),
    wrong('the scheme alone', 'Bearer'),
    wrong('the key twice', `Bearer ${key} ${key}`),
    wrong('the key twice, with a comma', `Bearer ${key}, Bearer ${key}`),
    wrong('a parameter after the key', `Bearer ${key}, realm="api"`),
    wrong('a quoted key', `Bearer "${key}"`),
    wrong('a named key', `Bearer token=${key}`),
    wrong('another prefix', withParts(other(prefix), company, id, secret)),
    wrong('no prefix', withParts(company, id, secret)),
    wrong('a prefix in other letters', withParts(swapped(prefix), company, id, secret)),
    wrong('another company', withParts(prefix, other(company), id, secret)),
    wrong('no company', withParts(prefix, '', id, secret)),
    wrong('a company in other letters', withParts(prefix, swapped(company), id, secret)),
    wrong('another id', withParts(prefix, company, other(id), secret)),
    wrong('the beginning of a secret', withParts(prefix, company, id, secret.slice(0, -1))),
    wrong('more than a secret', withParts(prefix, company, id, `${secret}A`)),
    wrong('a secret in other letters', withParts(prefix, company, id, swapped(secret))),
    wrong('no secret', withParts(prefix, company, id, '')),
    wrong('more than a key', withParts(prefix, company, id, secret, 'x')),
    wrong('an endless key', `Bearer ${key}${'A'.repeat(5_000)}`),
    ...['X-Api-Key', 'Api-Key', 'X-Auth-Token', 'X-Access-Token', 'Access-Token', 'Token', 'Key'].map(
      (name) => elsewhere(name, name),
    ),
    ...['X-Authorization', 'Proxy-Authorization', 'X-Forwarded-Authorization', 'Authentication'].map((name) =>
      elsewhere(name, name, `Bearer ${key}`),
    ),
    elsewhere(
      'Cookie',
      'Cookie',
      ['access_token', 'api_key', 'token'].map((name) => `${name}=${key}`).join('; '),
    ),
  ];
}

const INVALID = '401 invalid_key';

/** Shows the reader's key in every place and form. */
export async function keysAnywhere(party: Party, note: Note): Promise<void> {
  const key = (party.authorization('reader') ?? '').replace(/^Bearer /, '');
  const { operationId, target } = await anyList(party);
  for (const [name, headers, wanted] of presentations(key)) {
    const answer = await askChecked(party, note, { operationId, target, asker: 'nobody', headers });
    if (outcomeOf(answer) !== wanted) note(`the key as ${name}: ${outcomeOf(answer)}, not ${wanted}`);
  }
  for (const name of ['access_token', 'api_key', 'apikey', 'key', 'token', 'authorization', 'bearer']) {
    for (const [asker, wanted] of [
      ['nobody', INVALID],
      ['reader', '400 invalid_parameter'],
    ] as const) {
      const asked = withParameters(target, { [name]: key });
      const answer = await askChecked(party, note, { operationId, target: asked, asker });
      if (outcomeOf(answer) !== wanted)
        note(`the key as ?${name}= of ${asker}: ${outcomeOf(answer)}, not ${wanted}`);
    }
  }
}

/** Only who has the secret learns that a key was revoked. */
export async function revokedKeys(party: Party, note: Note): Promise<void> {
  const revoked = party.authorization('revoked') ?? '';
  const { operationId, target } = await anyList(party);
  for (const [authorization, wanted] of [
    [revoked, '401 revoked_key'],
    [revoked.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), INVALID],
    [revoked.slice(0, -1), INVALID],
  ] as const) {
    const answer = await askChecked(party, note, {
      operationId,
      target,
      asker: 'nobody',
      headers: { authorization },
    });
    if (outcomeOf(answer) !== wanted) {
      note(
        `a revoked key with ${authorization === revoked ? 'its' : 'another'} secret: ${outcomeOf(answer)}, not ${wanted}`,
      );
    }
  }
}
