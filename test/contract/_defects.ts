import type { Defect } from './_proxy.ts';
import { accessDefects } from './_defects-of-access.ts';
import { allowanceDefects } from './_defects-of-allowance.ts';
import { bodyDefects } from './_defects-of-bodies.ts';
import { headerDefects } from './_defects-of-headers.ts';
import { httpDefects } from './_defects-of-http.ts';
import { keyDefects } from './_defects-of-keys.ts';
import { listDefects } from './_defects-of-lists.ts';
import { pdfDefects } from './_defects-of-pdfs.ts';
import { queryDefects } from './_defects-of-queries.ts';
import { spellingDefects } from './_defects-of-spellings.ts';

/** Every defect that the suite has to notice. */
export const defects: readonly Defect[] = [
  ...bodyDefects,
  ...httpDefects,
  ...headerDefects,
  ...listDefects,
  ...queryDefects,
  ...pdfDefects,
  ...accessDefects,
  ...allowanceDefects,
  ...keyDefects,
  ...spellingDefects,
];
