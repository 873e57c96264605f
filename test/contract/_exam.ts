import { isDeepStrictEqual } from 'node:util';

import { conformanceProblems } from './_conformance.ts';
import { type Asked, exchange, parsed, type ReceivedAnswer, said } from './_exchange.ts';
import { type Asker, headersOf, type Party, type ServerName } from './_parties.ts';

/** One step of the suite while it is taken: whom it asks, and where it notes what is wrong. */
export interface Exam {
  party: Party;
  /** May throw, to end a step at its first problem. */
  note: (problem: string) => void;
}

export interface Request extends Asked {
  operationId: string;
  asker?: Asker;
  server?: ServerName;
}

/** A record as far as the suite looks into it. */
export interface ListedRecord {
  id: string;
  [member: string]: unknown;
}

export interface ListedPage {
  data: ListedRecord[];
  nextCursor: string | null;
}

/** Sends a request, and notes where the answer breaks the contract. */
export async function ask({ party, note }: Exam, request: Request): Promise<ReceivedAnswer> {
  const { operationId, asker = 'reader', server = 'normal', headers, ...asked } = request;
  const sent = { ...asked, headers: { ...headersOf(party, asker), ...headers } };
  const answer = await exchange(party.urls[server], sent);
  const options = asked.method === undefined ? {} : { method: asked.method };
  for (const problem of conformanceProblems(operationId, answer, options))
    note(`${request.target}: ${problem}`);
  return answer;
}

/**
 * Asks, and notes an answer that says something else than is wanted.
 * @param wanted as {@link said} has it: `200`, or `404 not_found`.
 */
export async function expect(
  exam: Exam,
  request: Request,
  wanted: string,
  what = `${request.target} for ${request.asker ?? 'reader'}`,
): Promise<ReceivedAnswer> {
  const answer = await ask(exam, request);
  if (said(answer) !== wanted) exam.note(`${what}: ${said(answer)}, not ${wanted}`);
  return answer;
}

/** Reads a page of a list; what isn't one is noted, and taken for an empty page. */
export async function readPage(exam: Exam, request: Request): Promise<ListedPage> {
  const body = parsed(await expect(exam, request, '200')) as Partial<ListedPage> | undefined;
  return { data: body?.data ?? [], nextCursor: body?.nextCursor ?? null };
}

/** Notes where the records of a list are not those that are wanted. */
export function compareRecords(
  { note }: Exam,
  what: string,
  actual: readonly ListedRecord[],
  wanted: readonly ListedRecord[],
): void {
  const [ids, wantedIds] = [actual.map(({ id }) => id), wanted.map(({ id }) => id)];
  if (!isDeepStrictEqual(ids, wantedIds))
    note(`${what}: the records are ${ids.join(' ')}, not ${wantedIds.join(' ')}`);
  else if (!isDeepStrictEqual(actual, wanted)) note(`${what}: ${firstDifference(actual, wanted)}`);
}

/** Where two JSON values part, and both values there. */
export function firstDifference(actual: unknown, wanted: unknown, path = ''): string {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null;
  if (!isObject(actual) || !isObject(wanted) || Array.isArray(actual) !== Array.isArray(wanted))
    return `${path || '/'} is ${JSON.stringify(actual)}, not ${JSON.stringify(wanted)}`.slice(0, 400);
  // Both were found to be objects.
  const [left, right] = [actual as Record<string, unknown>, wanted as Record<string, unknown>];
  const names = Object.keys({ ...left, ...right });
  const name = names.find((one) => !isDeepStrictEqual(left[one], right[one]));
  if (name === undefined) return `${path || '/'} has its members in another order`;
  return firstDifference(left[name], right[name], `${path}/${name}`);
}

/** Adds parameters to a target that may have some already. */
export function withParameters(target: string, parameters: Record<string, string | undefined>): string {
  const [path = '', query = ''] = target.split('?');
  const all = new URLSearchParams(query);
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) all.set(name, value);
  return all.size > 0 ? `${path}?${all.toString()}` : path;
}
