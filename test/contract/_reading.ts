import { isDeepStrictEqual } from 'node:util';

import type { Note } from './_checks.ts';
import { conformanceProblems } from './_conformance.ts';
import { declaredOperation, declaredResponse } from './_declared.ts';
import { ask, parsed, type ReceivedAnswer } from './_exchange.ts';
import { type Asker, headersOf, type Party } from './_parties.ts';
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

/** A list is no longer than this in any company that is asked. */
const PAGES_MAX = 50;

/** Reads a list to its end, by pages as long as they can be; what is wrong with a page is noted. */
export async function readWhole(
  party: Party,
  note: Note,
  { operationId, target }: Pick<WholeList, 'operationId' | 'target'>,
  asker: Asker,
): Promise<ReadRecord[]> {
  const records: ReadRecord[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const asked = withParameters(target, { limit: '100', cursor });
    const page = await readPage(party, note, operationId, asked, asker);
    records.push(...page.data);
    if (page.nextCursor === null) return records;
    cursor = page.nextCursor;
  }
  note(`${target}: nextCursor never becomes null`);
  return records;
}

/** A list without any filter, and what it holds by the contract's examples. */
export interface WholeList {
  operationId: string;
  /** Path, and the parameters that leave nothing out. */
  target: string;
  records: readonly ReadRecord[];
}

/** Every list of the contract; of submissions one for each form. */
export function wholeLists(): WholeList[] {
  const plain = ['listJobs', 'listPeople', 'listForms', 'listCustomers'];
  return [
    ...plain.map((operationId) => wholeList(operationId, declaredOperation(operationId).path)),
    wholeList('listInvoices', `${declaredOperation('listInvoices').path}?status=all`),
    wholeList('listQuotes', `${declaredOperation('listQuotes').path}?versions=all`),
    ...declaredResponse('listFormSubmissions', 200)
      .examples.filter(({ request }) => request !== undefined && !request.includes('?'))
      .map(({ request = '' }) => wholeList('listFormSubmissions', request)),
  ];
}

function wholeList(operationId: string, target: string): WholeList {
  const path = target.replace(/\?.*$/, '');
  const shown = declaredResponse(operationId, 200)
    .examples.filter(({ request }) => request?.replace(/\?.*$/, '') === path)
    .flatMap(({ value }) => (value as ReadPage).data);
  const byId = new Map(shown.map((record) => [record.id, record]));
  // Ids are compared as the service orders them: by their characters, not by a language's rules.
  const records = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return { operationId, target, records };
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
