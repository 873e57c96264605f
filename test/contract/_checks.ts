import { readersOfAll, schemes, unchangedForReaders } from './_access-checks.ts';
import { countdown, promisedAllowance, toldAllowance } from './_allowance-checks.ts';
import { conditionalAnswers, tagsOfBodies, tagsOverTime } from './_conditional-checks.ts';
import {
  compressedAnswers,
  heads,
  namedAnswers,
  orderOfChecks,
  otherMethods,
  unknownPaths,
} from './_http-checks.ts';
import type { Party } from './_parties.ts';
import { detailsOfLists, filteredLists, neighbours, pagedLists } from './_list-checks.ts';
import { cursorsElsewhere, filtersOnAllPages, pagesUnlessTold, timesWithOffsets } from './_paging-checks.ts';
import { pdfs } from './_pdf-checks.ts';

/** Notes what is wrong; may throw to end a check at its first problem. */
export type Note = (problem: string) => void;

/** Something that has to hold of a server over several answers. */
export interface Check {
  name: string;
  run: (party: Party, note: Note) => Promise<void>;
}

/** Everything beyond the single questions. The mock can't be asked: each of its answers stands alone. */
export const checks: readonly Check[] = [
  { name: 'the pages of a list are the whole list, in the order of the ids', run: pagedLists },
  { name: 'a filtered list is what its filters leave of the whole', run: filteredLists },
  { name: 'a list shows a record as its own path does', run: detailsOfLists },
  { name: 'a page has fifty records unless told', run: pagesUnlessTold },
  { name: 'every filter counts on every page', run: filtersOnAllPages },
  { name: 'a cursor belongs to its filters, and to no limit', run: cursorsElsewhere },
  { name: 'a time may have any offset', run: timesWithOffsets },
  { name: 'each document has a PDF of its own', run: pdfs },
  { name: 'another company is not seen', run: neighbours },
  { name: 'a key reads what its scopes and its plan cover, and nothing else', run: readersOfAll },
  { name: 'the scheme of a key may have letters of any size', run: schemes },
  { name: '304 only for those who may read', run: unchangedForReaders },
  { name: '304 while nothing has changed, 200 otherwise', run: conditionalAnswers },
  { name: 'a tag names one body', run: tagsOfBodies },
  { name: 'a tag changes when time changes the body', run: tagsOverTime },
  { name: 'HEAD has the headers of GET, and no body', run: heads },
  { name: '405 with Allow for every other method', run: otherMethods },
  { name: '404 for a path that is not in the contract', run: unknownPaths },
  { name: 'a compressed body is the same body', run: compressedAnswers },
  { name: 'each answer has a name of its own', run: namedAnswers },
  { name: 'an allowance counts down, ends, and comes back', run: countdown },
  { name: 'the allowance is the promised one', run: promisedAllowance },
  { name: 'every answer to a known key tells its allowance', run: toldAllowance },
  { name: 'the first reason for a refusal is the one that is named', run: orderOfChecks },
];

/** Runs a check to its end and gives what it noted. */
export async function problemsOf(check: Check, party: Party): Promise<string[]> {
  const problems: string[] = [];
  await check.run(party, (problem) => problems.push(problem));
  return problems;
}
