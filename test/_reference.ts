import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The built reference. The test command builds it anew; a test that is run alone builds one that is out of date. */
export function referenceFile(): string {
  execFileSync('make', ['--silent', 'docs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  return join(root, 'generated', 'reference.html');
}
