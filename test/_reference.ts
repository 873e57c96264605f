import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The built reference. The test command builds it anew; a test that is run alone builds one that is out of date. */
export function referenceFile(): string {
  make('docs');
  return join(root, 'generated', 'reference.html');
}

/** The integrators' package, built anew when it is out of date. */
export function clientFile(): string {
  make('client');
  return join(root, 'generated', 'client.tgz');
}

function make(target: string): void {
  execFileSync('make', ['--silent', target], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
