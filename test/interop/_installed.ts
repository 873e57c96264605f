import { join } from 'node:path';

/** Where `make interop` has installed other people's programs. */
export const modules = join(import.meta.dirname, 'node_modules');

/** The path of a program of theirs. */
export function programOf(name: string): string {
  return join(modules, '.bin', name);
}
