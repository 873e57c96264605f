import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { parse } from 'yaml';

export type Node = Record<string, unknown>;
/** The contents of the contract's three files, by their names. */
export type Files = Record<'openapi.yaml' | 'webhooks.yaml' | 'feed.yaml', Node>;

/** The three files of a release or, from the root of the project, those of now. */
export function readContract(folder: string, feed = 'feed.yaml'): Files {
  const read = (path: string) => parse(readFileSync(join(folder, path), 'utf8'), { merge: true }) as Node;
  return {
    'openapi.yaml': read('openapi.yaml'),
    'webhooks.yaml': read('webhooks.yaml'),
    'feed.yaml': read(feed),
  };
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where a component is written, so that a sentence can name that place rather than each that uses it. */
export const placesOfComponents = new WeakMap<Node, string>();

/** Keywords that are written for readers and bind nobody. */
export const isAnnotation = (keyword: string) =>
  /^(description|summary|title|examples?|tags|deprecated|externalDocs|x-(?!scope$|extensible-enum$).*)$/.test(
    keyword,
  );

/** The files with each reference replaced by what it refers to, by the same object wherever it stands. */
export function dereferenced(files: Files): Files {
  const targets = new Map<string, unknown>();
  const targetOf = (reference: string, from: string): unknown => {
    const [path = '', pointer = ''] = reference.split('#');
    const file = basename(path) || from;
    const names = pointer
      .split('/')
      .slice(1)
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    const key = `${file}#${pointer}`;
    if (!targets.has(key)) {
      const written = names.reduce<unknown>(
        (node, name) => (isNode(node) ? node[name] : undefined),
        files[file as keyof Files],
      );
      const target = copyOf(written, file);
      if (isNode(target)) placesOfComponents.set(target, `${file}, ${names.at(-1) ?? ''}`);
      targets.set(key, target);
    }
    return targets.get(key);
  };
  const copyOf = (value: unknown, file: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => copyOf(item, file));
    if (!isNode(value)) return value;
    const { $ref, ...others } = value;
    const beside = Object.fromEntries(Object.entries(others).map(([key, item]) => [key, copyOf(item, file)]));
    if (typeof $ref !== 'string') return beside;
    const target = targetOf($ref, file);
    // Where a reference leads nowhere, what it stood for is missing.
    if (!isNode(target) || Object.keys(beside).length === 0) return target;
    const merged = { ...target, ...beside };
    const place = placesOfComponents.get(target);
    // With a description beside the reference it is still the same component.
    if (place && Object.keys(beside).every(isAnnotation)) placesOfComponents.set(merged, place);
    return merged;
  };
  // A file's copy is a node as the file is.
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, copyOf(file, name)])) as Files;
}
