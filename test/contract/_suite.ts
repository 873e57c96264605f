import {
  doublyWrong,
  firstReason,
  keysAnywhere,
  readsOf,
  refusedAskers,
  revokedKeys,
  unchangedFor,
} from './_access-checks.ts';
import { countdown, promisedAllowance } from './_allowance-checks.ts';
import { conditionalAnswers, tagsOfBodies, tagsOfDrafts, tagsOverTime } from './_conditional-checks.ts';
import type { Exam } from './_exam.ts';
import {
  cursorsElsewhere,
  damagedCursors,
  escapedQueries,
  filteredLists,
  filtersOnAllPages,
  timesWithOffsets,
} from './_filter-checks.ts';
import { filtersOf } from './_filters.ts';
import {
  compressedAnswers,
  heads,
  idleHeadersOf,
  namedAnswers,
  otherMethods,
  unknownPaths,
  writtenIds,
} from './_http-checks.ts';
import {
  detailsOfLists,
  latestVersions,
  namedCustomers,
  neighbours,
  pagedLists,
  pagesUnlessTold,
} from './_list-checks.ts';
import { detailOf, listOperations, listsOf, type WholeList } from './_lists.ts';
import { NotGiven, type Party } from './_parties.ts';
import { kindsAndStates, pdfs } from './_pdf-checks.ts';
import { examine, questions } from './_questions.ts';

/** One thing that has to hold of a party: of one answer, or over several. */
export interface Step {
  name: string;
  run: (exam: Exam) => Promise<void>;
}

/** A step for each of several, who are named after it. */
function each<One>(
  name: string,
  all: readonly One[],
  run: (exam: Exam, one: One) => Promise<void>,
  nameOf: (one: One) => string = String,
): Step[] {
  return all.map((one) => ({ name: `${name}: ${nameOf(one)}`, run: (exam) => run(exam, one) }));
}

/** A step for each operation that lists: of one that has several lists, of all of them. */
function ofLists(
  name: string,
  run: (exam: Exam, list: WholeList) => Promise<void>,
  isFor: (operationId: string) => boolean = () => true,
): Step[] {
  return each(name, listOperations.filter(isFor), async (exam, operationId) => {
    const missing: NotGiven[] = [];
    const lists = await listsOf(exam, operationId);
    for (const list of lists) {
      await run(exam, list).catch((error: unknown) => {
        if (!(error instanceof NotGiven)) throw error;
        missing.push(error);
      });
    }
    if (missing[0] && missing.length === lists.length) throw missing[0];
  });
}

const isFiltered = (operationId: string) => filtersOf(operationId, []).length > 0;
const isTimed = (operationId: string) =>
  filtersOf(operationId, []).some(({ name }) => name === 'updatedSince');

/** Everything beyond the single questions. The mock can't be asked: each of its answers stands alone. */
const checks: readonly Step[] = [
  ...ofLists('the pages of a list are the whole list, in the order of the ids', pagedLists),
  ...ofLists('a filtered list is what its filters leave of the whole', filteredLists, isFiltered),
  ...ofLists(
    'a list shows a record as its own path does',
    detailsOfLists,
    (id) => detailOf(id) !== undefined,
  ),
  { name: 'every customer that a record names can be looked up', run: namedCustomers },
  { name: 'the latest version of a quote is shown, sent or not', run: latestVersions },
  ...each('a page has fifty records unless told', listOperations, pagesUnlessTold),
  ...each('every filter counts on every page', listOperations.filter(isFiltered), filtersOnAllPages),
  ...each('a cursor belongs to its filters, and to no limit', listOperations, cursorsElsewhere),
  ...ofLists('a query may be written with escapes', escapedQueries),
  ...ofLists('a damaged cursor is refused', damagedCursors),
  ...ofLists('a time may have any offset', timesWithOffsets, isTimed),
  ...each(
    'each document has a PDF of its own',
    kindsAndStates,
    pdfs,
    ({ kind, state }) => `${kind}, ${state}`,
  ),
  ...each('another company is not seen', listOperations, neighbours),
  ...each('a key reads what its scopes and its plan cover, and nothing else', refusedAskers, readsOf),
  { name: 'a key counts in one place and in one form alone', run: keysAnywhere },
  { name: 'only who has the secret of a revoked key learns of it', run: revokedKeys },
  ...each(
    '304 only for those who may read',
    [...refusedAskers.filter((asker) => asker !== 'reader'), 'neighbour' as const],
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
  ...each('the first reason for a refusal is the one that is named', doublyWrong, firstReason),
];

/** The whole suite for a party, in the order in which its steps are taken. */
export function stepsFor(party: Party): Step[] {
  const asked = questions(party).map((question) => ({
    name: question.name,
    run: (exam: Exam) => examine(exam, question),
  }));
  return party.name === 'mock' ? asked : [...asked, ...checks];
}

/** A step that was taken: the problems that it found, or what it would have needed. */
export interface Taken {
  name: string;
  problems: string[];
  needs?: string;
}

/** Takes a step to its end. A step that breaks down says so among its problems. */
export async function take({ name, run }: Step, party: Party): Promise<Taken> {
  const problems: string[] = [];
  try {
    await run({ party, note: (problem) => problems.push(problem) });
  } catch (error) {
    if (error instanceof NotGiven) return { name, problems, needs: error.message };
    problems.push(error instanceof Error ? error.message : String(error));
  }
  return { name, problems };
}
