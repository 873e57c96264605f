import {
  type DeclaredOperation,
  examplesOf,
  knownPath,
  operationOf,
  operations,
  withoutQuery,
} from './_contract.ts';
import { type Exam, type ListedPage, type ListedRecord, withParameters } from './_exam.ts';
import { codeOf, exchange, parsed } from './_exchange.ts';
import { defaultsOf } from './_filters.ts';
import { type Asker, headersOf, NotGiven, type Party } from './_parties.ts';

/** A list without any filter, and what it holds. */
export interface WholeList {
  operationId: string;
  /** Path, and the parameters that leave nothing out. */
  target: string;
  records: readonly ListedRecord[];
  /** Whether these are all records; of a long list only the first are known. */
  isWhole: boolean;
}

const isList = ({ parameters }: DeclaredOperation) => parameters.some(({ name }) => name === 'cursor');
const [ofCompanies, ofForms] = [false, true].map((isOfForm) =>
  operations.filter((operation) => isList(operation) && operation.path.includes('{') === isOfForm),
) as [DeclaredOperation[], DeclaredOperation[]];
export const listOperations = [...ofCompanies, ...ofForms].map(({ operationId }) => operationId);

/** The operations that read something of a record of a list: the record itself, its PDF, its submissions. */
export function operationsOfRecords(listOperation: string): DeclaredOperation[] {
  const { path } = operationOf(listOperation);
  return operations.filter((operation) => operation.path.startsWith(`${path}/{`));
}

export function detailOf(listOperation: string): string | undefined {
  return operationsOfRecords(listOperation).find(({ path }) => path.endsWith('}'))?.operationId;
}

/** The operation that lists what another one reads. */
export function listOperationOf(operationId: string): string {
  const operation = operationOf(operationId);
  const list = operations.find(({ path }) => operation.path.startsWith(`${path}/{`));
  return isList(operation) || !list ? operationId : list.operationId;
}

/** The address of a list with the filters that leave nothing out. */
function wholeTarget(operation: DeclaredOperation, path: string): string {
  const all = Object.keys(defaultsOf(operation)).map((name) => [name, 'all'] as const);
  return withParameters(path, Object.fromEntries(all));
}

export function pathOf(operationId: string, id: string): string {
  return operationOf(operationId).path.replace(/\{\w+\}/, id);
}

export function absentPath({ path, parameters }: DeclaredOperation): string {
  const takesUuid = parameters.some(({ in: place, schema }) => place === 'path' && schema.format === 'uuid');
  return path.replace(/\{\w+\}/, takesUuid ? '01a00000-0000-7000-8000-000000000000' : 'absent_0000');
}

/** The lists of the example company, by the contract's examples. */
export function exampleLists(): WholeList[] {
  return [...ofCompanies, ...ofForms].flatMap((operation) => {
    const { operationId } = operation;
    const examples = examplesOf(operationId, 200);
    const paths = new Set(examples.map((example) => withoutQuery(example['x-request'] ?? '')));
    return [...paths].map((path) => {
      const shown = examples
        .filter((example) => withoutQuery(example['x-request'] ?? '') === path)
        .flatMap(({ value }) => (value as ListedPage).data);
      const byId = new Map(shown.map((record) => [record.id, record]));
      // Ids are compared as the service orders them: by their characters, not by a language's rules.
      const records = [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      return { operationId, target: wholeTarget(operation, path), records, isWhole: true };
    });
  });
}

/** Of a list that nobody has described so many pages of a hundred are read, and of a company so many forms. */
const READ_PAGES_MAX = 3;
const READ_FORMS_MAX = 3;

/** Reads the lists of a company that no example describes, as far as the asker may; long ones not to their end. */
export async function readLists(party: Party, asker: Asker): Promise<WholeList[]> {
  const beginning = (operation: DeclaredOperation, path: string) =>
    beginningOf(party, asker, operation.operationId, wholeTarget(operation, path));
  const plain = await Promise.all(ofCompanies.map((operation) => beginning(operation, operation.path)));
  const forms = plain.flat().find(({ operationId }) => operationId === 'listForms')?.records ?? [];
  const ofSome = await Promise.all(
    ofForms.flatMap((operation) =>
      forms.slice(0, READ_FORMS_MAX).map(({ id }) => beginning(operation, pathOf(operation.operationId, id))),
    ),
  );
  return [...plain.flat(), ...ofSome.flat()];
}

async function beginningOf(
  party: Party,
  asker: Asker,
  operationId: string,
  target: string,
): Promise<WholeList[]> {
  const records: ListedRecord[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < READ_PAGES_MAX && (pages === 0 || cursor !== null); pages++) {
    const asked = withParameters(target, { limit: '100', cursor: cursor ?? undefined });
    const answer = await exchange(party.urls.normal, { target: asked, headers: headersOf(party, asker) });
    const isRefused = answer.status === 403 || codeOf(parsed(answer)) === 'invoicing_not_enabled';
    if (isRefused) return [];
    // The questions notice an answer that is no page of records.
    const page = parsed(answer) as Partial<ListedPage> | undefined;
    records.push(...(page?.data ?? []));
    cursor = page?.nextCursor ?? null;
  }
  return [{ operationId, target, records, isWhole: cursor === null }];
}

/** The lists that an operation gives the reader. @throws NotGiven when they may not read them, or there are none. */
export async function listsOf({ party }: Exam, operationId: string): Promise<WholeList[]> {
  const all = await party.lists('reader');
  const lists = all.filter((list) => list.operationId === operationId);
  if (lists.length > 0) return lists;
  const hasNoForm =
    operationId === 'listFormSubmissions' && all.some((list) => list.operationId === 'listForms');
  throw new NotGiven(hasNoForm ? 'a form' : `a reader who may ask ${operationId}`);
}

export async function anyList({ party }: Exam): Promise<{ operationId: string; target: string }> {
  const [first] = await party.lists('reader');
  if (!first) throw new NotGiven('a reader who may read something');
  return { operationId: first.operationId, target: withoutQuery(first.target) };
}

/** A path that the operation answers the reader with 200. @throws NotGiven when the company has no record for it. */
export async function answeredPath(exam: Exam, operationId: string): Promise<string> {
  const listOperation = listOperationOf(operationId);
  const lists = await listsOf(exam, listOperation);
  if (exam.party.isExample) return knownPath(operationId);
  if (listOperation === operationId) return withoutQuery(lists[0]?.target ?? '');
  const records = lists.flatMap((list) => list.records);
  // The PDF of a draft is made anew each time.
  const record = records.find(({ status }) => status !== 'draft') ?? records[0];
  if (!record) throw new NotGiven(`a record that ${listOperation} lists`);
  return pathOf(operationId, record.id);
}

/** Each operation that answers the reader with a path to ask; those of which the company has no record are left out. */
export async function answeredOperations(exam: Exam): Promise<{ operationId: string; target: string }[]> {
  const found: { operationId: string; target: string }[] = [];
  for (const { operationId } of operations) {
    try {
      found.push({ operationId, target: await answeredPath(exam, operationId) });
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
export async function operationsFor({ party }: Exam, asker: Asker): Promise<DeclaredOperation[]> {
  if (asker !== 'reader' && !asker.startsWith('with')) return operations;
  const own = (await party.lists('reader')).map(({ operationId }) => operationOf(operationId).scope);
  return operations.filter(({ scope }) => own.includes(scope));
}
