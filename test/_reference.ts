import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The built reference. The test command builds it anew; a test that is run alone builds one that is missing. */
export function referenceFile(): string {
  const file = join(root, 'generated', 'reference.html');
  if (!existsSync(file)) execFileSync(process.execPath, [join(root, 'src', 'reference', 'build.ts')]);
  return file;
}
