import { answerDefects } from './_defects-of-answers.ts';
import { requestDefects } from './_defects-of-requests.ts';
import type { Change } from './_proxy.ts';

/** A defect: its name, what is changed, and what the suite has to say, because being caught by accident doesn't count. */
export type Row = readonly [name: string, change: Change, says: RegExp];

/** Defects by the steps that must notice them; the key is a pattern of the steps' names. */
export type Defects = Readonly<Record<string, readonly Row[]>>;

/** Every defect that the suite has to notice. */
export const defects = [answerDefects, requestDefects].flatMap((table) =>
  Object.entries(table).flatMap(([within, rows]) =>
    rows.map(([name, change, says]) => ({ name, change, says, within: new RegExp(within) })),
  ),
);
