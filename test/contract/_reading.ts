import { isDeepStrictEqual } from 'node:util';

import type { Note } from './_checks.ts';
import { codeOf, conformanceProblems } from './_conformance.ts';
import {
  type DeclaredOperation,
  declaredOperation,
  declaredOperations,
  declaredResponse,
  knownPath,
} from './_declared.ts';
import { ask, parsed, type ReceivedAnswer } from './_exchange.ts';
import { type Asker, headersOf, NotGiven, type Party } from './_parties.ts';
import { firstDifference } from './_questions.ts';

/** A record as far as the checks look into it. */
export interface ReadRecord {
  id: string;
  [member: string]: unknown;
}

export interface ReadPage {
  data: ReadRecord[];
  nextCursor: string | null;
}

/** Asks the normal server, and notes where the answer breaks the contract. */
export async function askChecked(
  party: Party,
  note: Note,
  asked: { operationId: string; target: string; asker?: Asker; headers?: Record<string, string> },
): Promise<ReceivedAnswer> {
  const { operationId, target, asker = 'reader', headers = {} } = asked;
  const answer = await ask(party.urls.normal, {
    target,
    headers: { ...headersOf(party, asker), ...headers },
  });
  for (const problem of conformanceProblems(operationId, answer)) note(`${target}: ${problem}`);
  return answer;
}

/** Reads a page of a list; what isn't one is noted, and taken for an empty page. */
export async function readPage(
  party: Party,
  note: Note,
  operationId: string,
  target: string,
  asker: Asker = 'reader',
): Promise<ReadPage> {
  const answer = await askChecked(party, note, { operationId, target, asker });
  if (answer.status !== 200) note(`${target}: the status is ${answer.status}, not 200`);
  const body = parsed(answer) as Partial<ReadPage> | undefined;
  return { data: body?.data ?? [], nextCursor: body?.nextCursor ?? null };
}

/** A list without any filter, and what it holds. */
export interface WholeList {
  operationId: string;
  /** Path, and the parameters that leave nothing out. */
  target: string;
  records: readonly ReadRecord[];
  /** Whether these are all records; of a long list only the first are known. */
  isWhole: boolean;
}

/** The lists of the contract, with the query that leaves nothing out. Submissions have a list for each form. */
const listTargets: Readonly<Record<string, string>> = {
  listJobs: '/api/v1/jobs',
  listPeople: '/api/v1/people',
  listForms: '/api/v1/forms',
  listCustomers: '/api/v1/customers',
  listInvoices: '/api/v1/invoices?status=all',
  listQuotes: '/api/v1/quotes?versions=all',
};
const SUBMISSIONS = 'listFormSubmissions';
export const listOperations = [...Object.keys(listTargets), SUBMISSIONS];

/** The operation that reads one record of a list. */
export const detailOf: Readonly<Record<string, string>> = {
  listJobs: 'getJob',
  listCustomers: 'getCustomer',
  listInvoices: 'getInvoice',
  listQuotes: 'getQuote',
};

/** The lists of the example company, by the contract's examples. */
export function exampleLists(): WholeList[] {
  const forms = declaredResponse(SUBMISSIONS, 200).examples.flatMap(({ request = '?' }) =>
    request.includes('?') ? [] : [exampleList(SUBMISSIONS, request)],
  );
  return [...Object.entries(listTargets).map(([id, target]) => exampleList(id, target)), ...forms];
}

function exampleList(operationId: string, target: string): WholeList {
  const path = target.replace(/\?.*$/, '');
  const shown = declaredResponse(operationId, 200)
    .examples.filter(({ request }) => request?.replace(/\?.*$/, '') === path)
    .flatMap(({ value }) => (value as ReadPage).data);
  const byId = new Map(shown.map((record) => [record.id, record]));
  // Ids are compared as the service orders them: by their characters, not by a language's rules.
  const records = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return { operationId, target, records, isWhole: true };
}

/** Of a list that nobody has described so many pages of a hundred are read, and of a company so many forms. */
const READ_PAGES_MAX = 3;
const READ_FORMS_MAX = 3;

/** Reads the lists of a company that no example describes, as far as the asker may; long ones not to their end. */
export async function readLists(party: Party, asker: Asker): Promise<WholeList[]> {
  const plain = await Promise.all(
    Object.entries(listTargets).map(([id, target]) => beginningOf(party, asker, id, target)),
  );
  const forms = plain.flat().find(({ operationId }) => operationId === 'listForms')?.records ?? [];
  const paths = forms.slice(0, READ_FORMS_MAX).map(({ id }) => pathOf(SUBMISSIONS, id));
  const submissions = await Promise.all(paths.map((path) => beginningOf(party, asker, SUBMISSIONS, path)));
  return [...plain.flat(), ...submissions.flat()];
}

async function beginningOf(
  party: Party,
  asker: Asker,
  operationId: string,
  target: string,
): Promise<WholeList[]> {
  const records: ReadRecord[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < READ_PAGES_MAX && (pages === 0 || cursor !== null); pages++) {
    const asked = withParameters(target, { limit: '100', cursor: cursor ?? undefined });
    const answer = await ask(party.urls.normal, { target: asked, headers: headersOf(party, asker) });
    const isRefused = answer.status === 403 || codeOf(parsed(answer)) === 'invoicing_not_enabled';
    if (isRefused) return [];
    // What is no page of records is for the questions to notice.
    const page = parsed(answer) as Partial<ReadPage> | undefined;
    records.push(...(page?.data ?? []));
    cursor = page?.nextCursor ?? null;
  }
  return [{ operationId, target, records, isWhole: cursor === null }];
}

/** The path of an operation with an id in it. */
export function pathOf(operationId: string, id: string): string {
  return declaredOperation(operationId).path.replace(/\{\w+\}/, id);
}

/** The lists that an operation gives the reader. @throws NotGiven when they may not read them, or there are none. */
export async function listsOf(party: Party, operationId: string): Promise<WholeList[]> {
  const all = await party.lists('reader');
  const lists = all.filter((list) => list.operationId === operationId);
  if (lists.length > 0) return lists;
  const hasNoForm = operationId === SUBMISSIONS && all.some((list) => list.operationId === 'listForms');
  throw new NotGiven(hasNoForm ? 'a form' : `a reader who may ask ${operationId}`);
}

/** The operation that lists what another one reads. */
export function listOperationOf(operationId: string): string {
  if (operationId === 'getInvoicePdf') return 'listInvoices';
  return Object.keys(detailOf).find((id) => detailOf[id] === operationId) ?? operationId;
}

/** A path that the operation answers the reader with 200. @throws NotGiven when the company has no record for it. */
export async function answeredPath(party: Party, operationId: string): Promise<string> {
  const listOperation = listOperationOf(operationId);
  const lists = await listsOf(party, listOperation);
  if (party.isExample) return knownPath(operationId);
  if (listOperation === operationId) return (lists[0]?.target ?? '').replace(/\?.*$/, '');
  const records = lists.flatMap((list) => list.records);
  // The PDF of a draft is made anew each time.
  const record = records.find(({ status }) => status !== 'draft') ?? records[0];
  if (!record) throw new NotGiven(`a record that ${listOperation} lists`);
  return pathOf(operationId, record.id);
}

/** Each operation that answers the reader with a path to ask; those of which the company has no record are left out. */
export async function answeredOperations(party: Party): Promise<{ operationId: string; target: string }[]> {
  const found: { operationId: string; target: string }[] = [];
  for (const { operationId } of declaredOperations()) {
    try {
      found.push({ operationId, target: await answeredPath(party, operationId) });
    } catch (error) {
      if (!(error instanceof NotGiven)) throw error;
    }
  }
  return found;
}

/**
 * The operations that tell something of an asker: of another company all of them, of the reader's own those that its plan
 * covers.
 */
export async function operationsFor(asker: Asker, party: Party): Promise<DeclaredOperation[]> {
  if (asker !== 'reader' && !asker.startsWith('with')) return [...declaredOperations()];
  const own = (await party.lists('reader')).map(({ operationId }) => declaredOperation(operationId).scope);
  return declaredOperations().filter(({ scope }) => own.includes(scope));
}

/** A list that the reader may read. */
export async function anyList(party: Party): Promise<{ operationId: string; target: string }> {
  const [first] = await party.lists('reader');
  if (!first) throw new NotGiven('a reader who may read something');
  return { operationId: first.operationId, target: first.target.replace(/\?.*$/, '') };
}

/** Notes where the records of a list are not those that are wanted. */
export function compareRecords(
  note: Note,
  what: string,
  actual: readonly ReadRecord[],
  wanted: readonly ReadRecord[],
): void {
  const [ids, wantedIds] = [actual.map(({ id }) => id), wanted.map(({ id }) => id)];
  if (!isDeepStrictEqual(ids, wantedIds)) {
    note(`${what}: the records are ${ids.join(' ')}, not ${wantedIds.join(' ')}`);
  } else if (!isDeepStrictEqual(actual, wanted)) {
    note(`${what}: ${firstDifference(actual, wanted, '')}`);
  }
}

/** Adds parameters to a target that may have some already. */
export function withParameters(target: string, parameters: Record<string, string | undefined>): string {
  const [path = '', query = ''] = target.split('?');
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) all.set(name, value);
  return all.size > 0 ? `${path}?${all.toString()}` : path;
}
