import type { Defect } from './_proxy.ts';
import { bodyDefects } from './_defects-of-bodies.ts';
import { httpDefects } from './_defects-of-http.ts';
import { listDefects } from './_defects-of-lists.ts';
import { accessDefects } from './_defects-of-access.ts';

/** Every defect that the suite has to notice. */
export const defects: readonly Defect[] = [...bodyDefects, ...httpDefects, ...listDefects, ...accessDefects];
