import { exampleCompany } from './example-company.ts';
import { documentChanges } from './example-documents.ts';
import { workChanges } from './example-work.ts';
import type { StoryChange } from './story.ts';

/**
 * How the company that the contract's examples describe came to be what they show, in the order of time. What the
 * team saved is taken from the examples; what they don't tell, such as when something was paid, is told beside them.
 */
export function exampleChanges(): StoryChange[] {
  return [...workChanges(), ...documentChanges()]
    .sort((a, b) => (a.at < b.at ? -1 : 1))
    .map((told) => ({ id: `${told.at} ${told.change}`, company: exampleCompany.id, ...told }));
}
