import { type Module, moduleOf, type Scope, scopes } from '../../src/contract/scopes.ts';
import type { Note } from './_checks.ts';
import { codeOf } from './_conformance.ts';
import { type DeclaredOperation, declaredOperation, declaredOperations, knownPath } from './_declared.ts';
import { type Answer, parsed } from './_exchange.ts';
import type { Asker, Party } from './_parties.ts';
import { absentPath } from './_questions.ts';
import { askChecked } from './_reading.ts';

/** Why somebody is refused, as `status code`. */
type Refusal = string | undefined;

interface Right {
  asker: Asker;
  refusal: (scope: Scope) => Refusal;
}

const needsInvoicing: readonly Module[] = ['invoices', 'quotes'];

/** The rights of each asker, by service.md ("Errors"). */
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

/**
 * Asks every operation for every asker. A path that has an id gets one that names nothing, so that whoever may read it
 * gets 404, and nobody else learns as much.
 */
export async function readersOfAll(party: Party, note: Note): Promise<void> {
  for (const { asker, refusal } of rights) {
    for (const operation of declaredOperations()) {
      const target = absentPath(operation);
      const wanted = refusal(operation.scope) ?? (target === operation.path ? '200' : '404 not_found');
      const answer = await askChecked(party, note, { operationId: operation.operationId, target, asker });
      if (outcomeOf(answer) !== wanted) {
        note(`${target} for ${asker}: ${outcomeOf(answer)}, not ${wanted}`);
      }
    }
  }
}

/** Asks with a tag that is right, and with one that any body has, for everyone who may not read the body. */
export async function unchangedForReaders(party: Party, note: Note): Promise<void> {
  for (const operation of declaredOperations()) {
    const { operationId, scope } = operation;
    const target = knownPath(operationId);
    const tag = (await askChecked(party, note, { operationId, target })).headers['etag'] ?? '';
    const refused = rights.flatMap(({ asker, refusal }) => {
      const wanted = refusal(scope);
      return wanted === undefined ? [] : [{ asker, wanted }];
    });
    const cases = [...refused, ...strangerTo(operation)].flatMap((refusal) =>
      [tag, '*'].map((ifNoneMatch) => ({ ...refusal, ifNoneMatch })),
    );
    for (const { asker, wanted, ifNoneMatch } of cases) {
      const headers = { 'if-none-match': ifNoneMatch };
      const answer = await askChecked(party, note, { operationId, target, asker, headers });
      if (outcomeOf(answer) !== wanted) {
        note(`${target} with If-None-Match ${ifNoneMatch} for ${asker}: ${outcomeOf(answer)}, not ${wanted}`);
      }
    }
  }
}

/** Another company has no such invoice and no such quote; of jobs and customers it has others under the same ids. */
function strangerTo({ parameters }: DeclaredOperation): { asker: Asker; wanted: string }[] {
  const isUnique = parameters.some(({ in: place, schema }) => place === 'path' && schema.format === 'uuid');
  return isUnique ? [{ asker: 'neighbour', wanted: '404 not_found' }] : [];
}

function outcomeOf(answer: Answer): string {
  return answer.status < 400 ? String(answer.status) : `${answer.status} ${codeOf(parsed(answer))}`;
}

/** The scheme's letters may be of any size (RFC 9110 section 11.1); without it, or with another, a key is none. */
export async function schemes(party: Party, note: Note): Promise<void> {
  const key = (party.authorization('reader') ?? '').replace(/^Bearer /, '');
  const cases: [string, string][] = [
    [`bearer ${key}`, '200'],
    [`BEARER ${key}`, '200'],
    [key, '401 invalid_key'],
    [`Basic ${key}`, '401 invalid_key'],
    [`Bearer`, '401 invalid_key'],
    [`Bearer ${key} ${key}`, '401 invalid_key'],
  ];
  const { operationId, path } = declaredOperation('listJobs');
  for (const [authorization, wanted] of cases) {
    const answer = await askChecked(party, note, { operationId, target: path, headers: { authorization } });
    const shown = authorization.replaceAll(key, '<key>');
    if (outcomeOf(answer) !== wanted) note(`${shown}: ${outcomeOf(answer)}, not ${wanted}`);
  }
}
