import { conditionalAnswers, tagsOfBodies, tagsOverTime } from './_conditional-checks.ts';
import { compressedAnswers, heads, orderOfChecks, otherMethods, unknownPaths } from './_http-checks.ts';
import type { Party } from './_parties.ts';
import { detailsOfLists, filteredLists, neighbours, pagedLists } from './_list-checks.ts';

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
  { name: 'another company is not seen', run: neighbours },
  { name: '304 while nothing has changed, 200 otherwise', run: conditionalAnswers },
  { name: 'a tag names one body', run: tagsOfBodies },
  { name: 'a tag changes when time changes the body', run: tagsOverTime },
  { name: 'HEAD has the headers of GET, and no body', run: heads },
  { name: '405 with Allow for every other method', run: otherMethods },
  { name: '404 for a path that is not in the contract', run: unknownPaths },
  { name: 'a compressed body is the same body', run: compressedAnswers },
  { name: 'the first reason for a refusal is the one that is named', run: orderOfChecks },
];

/** Runs a check to its end and gives what it noted. */
export async function problemsOf(check: Check, party: Party): Promise<string[]> {
  const problems: string[] = [];
  await check.run(party, (problem) => problems.push(problem));
  return problems;
}
