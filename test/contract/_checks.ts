import { keysAnywhere, readsOf, refusedAskers, revokedKeys, unchangedFor } from './_access-checks.ts';
import { countdown, promisedAllowance, toldAllowance, toldAskers } from './_allowance-checks.ts';
import { conditionalAnswers, tagsOfBodies, tagsOfDrafts, tagsOverTime } from './_conditional-checks.ts';
import { filtersOf } from './_filters.ts';
import {
  compressedAnswers,
  doublyWrong,
  firstReason,
  heads,
  idleHeadersOf,
  namedAnswers,
  otherMethods,
  unknownPaths,
  writtenIds,
} from './_http-checks.ts';
import {
  detailsOfLists,
  filteredLists,
  latestVersions,
  namedCustomers,
  neighbours,
  pagedLists,
} from './_list-checks.ts';
import {
  cursorsElsewhere,
  damagedCursors,
  escapedQueries,
  filtersOnAllPages,
  pagesUnlessTold,
  timesWithOffsets,
} from './_paging-checks.ts';
import { NotGiven, type Party } from './_parties.ts';
import { kindsAndStates, pdfs } from './_pdf-checks.ts';
import { detailOf, listOperations, listsOf, type WholeList } from './_reading.ts';

/** Notes what is wrong; may throw to end a check at its first problem. */
export type Note = (problem: string) => void;

/** Something that has to hold of a server over several answers. */
export interface Check {
  name: string;
  run: (party: Party, note: Note) => Promise<void>;
}

/** A check of each list: of an operation that has several, of all of them. */
function ofLists(
  name: string,
  run: (list: WholeList, party: Party, note: Note) => Promise<void>,
  isFor: (operationId: string) => boolean = () => true,
): Check[] {
  return listOperations.filter(isFor).map((operationId) => ({
    name: `${name}: ${operationId}`,
    run: async (party, note) => {
      const missing: NotGiven[] = [];
      const lists = await listsOf(party, operationId);
      for (const list of lists) {
        await run(list, party, note).catch((error: unknown) => {
          if (error instanceof NotGiven) missing.push(error);
          else throw error;
        });
      }
      if (missing[0] && missing.length === lists.length) throw missing[0];
    },
  }));
}

/** A check for each of several, who are named after it. */
function ofEach<One>(
  name: string,
  all: readonly One[],
  nameOf: (one: One) => string,
  run: (one: One, party: Party, note: Note) => Promise<void>,
): Check[] {
  return all.map((one) => ({
    name: `${name}: ${nameOf(one)}`,
    run: (party, note) => run(one, party, note),
  }));
}

const isFiltered = (operationId: string) => filtersOf(operationId, []).length > 0;
const isTimed = (operationId: string) =>
  filtersOf(operationId, []).some(({ name }) => name === 'updatedSince');
const itself = (text: string) => text;

/** Everything beyond the single questions. The mock can't be asked: each of its answers stands alone. */
export const checks: readonly Check[] = [
  ...ofLists('the pages of a list are the whole list, in the order of the ids', pagedLists),
  ...ofLists('a filtered list is what its filters leave of the whole', filteredLists, isFiltered),
  ...ofLists('a list shows a record as its own path does', detailsOfLists, (id) => id in detailOf),
  { name: 'every customer that a record names can be looked up', run: namedCustomers },
  { name: 'the latest version of a quote is shown, sent or not', run: latestVersions },
  ...ofEach('a page has fifty records unless told', listOperations, itself, pagesUnlessTold),
  ...ofEach(
    'every filter counts on every page',
    listOperations.filter(isFiltered),
    itself,
    filtersOnAllPages,
  ),
  ...ofEach('a cursor belongs to its filters, and to no limit', listOperations, itself, cursorsElsewhere),
  ...ofLists('a query may be written with escapes', escapedQueries),
  ...ofLists('a damaged cursor is refused', damagedCursors),
  ...ofLists('a time may have any offset', timesWithOffsets, isTimed),
  ...ofEach(
    'each document has a PDF of its own',
    kindsAndStates,
    ({ kind, state }) => `${kind}, ${state}`,
    pdfs,
  ),
  ...ofEach('another company is not seen', listOperations, itself, neighbours),
  ...ofEach(
    'a key reads what its scopes and its plan cover, and nothing else',
    refusedAskers,
    itself,
    readsOf,
  ),
  { name: 'a key counts in one place and in one form alone', run: keysAnywhere },
  { name: 'only who has the secret of a revoked key learns of it', run: revokedKeys },
  ...ofEach(
    '304 only for those who may read',
    [...refusedAskers.filter((asker) => asker !== 'reader'), 'neighbour' as const],
    itself,
    unchangedFor,
  ),
  { name: '304 while nothing has changed, 200 otherwise', run: conditionalAnswers },
  { name: 'a tag names one body', run: tagsOfBodies },
  { name: 'a tag changes when time changes the body', run: tagsOverTime },
  { name: 'a tag changes when a draft is edited', run: tagsOfDrafts },
  { name: 'HEAD has the headers of GET, and no body', run: heads },
  { name: 'a header that the contract does not name changes nothing', run: idleHeadersOf },
  { name: '405 with Allow for every other method', run: otherMethods },
  { name: '404 for a path that is not in the contract', run: unknownPaths },
  { name: 'an id may be written with escapes, and a UUID in capitals', run: writtenIds },
  { name: 'a compressed body is the same body', run: compressedAnswers },
  { name: 'each answer has a name of its own', run: namedAnswers },
  { name: 'an allowance counts down, ends, and comes back', run: countdown },
  { name: 'the allowance is the promised one', run: promisedAllowance },
  ...ofEach(
    'every answer to a known key tells its allowance',
    toldAskers,
    ({ asker }) => asker,
    toldAllowance,
  ),
  ...ofEach(
    'the first reason for a refusal is the one that is named',
    doublyWrong,
    ({ asker, query }) => asker + query,
    firstReason,
  ),
];

/** Runs a check to its end and gives what it noted. */
export async function problemsOf(check: Check, party: Party): Promise<string[]> {
  const problems: string[] = [];
  await check.run(party, (problem) => problems.push(problem));
  return problems;
}
