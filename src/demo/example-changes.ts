import { exampleCompany } from './example-company.ts';
import { documentChanges } from './example-documents.ts';
import { workChanges } from './example-work.ts';
import type { StoryChange } from './story.ts';

/**
 * The history of the company that the contract's examples describe, in the order of time. The records are taken from the
 * examples; facts that these don't tell, such as the day of a payment, are told beside them.
 */
export function exampleChanges(): StoryChange[] {
  return [...workChanges(), ...documentChanges()]
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map((told) => ({ id: `${told.at} ${told.change}`, company: exampleCompany.id, ...told }));
}
