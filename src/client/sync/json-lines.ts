/**
 * Keeps a copy of a company's records in JSON Lines files, for `sync`. It requires Node.
 *
 * Each resource has an append-only file, such as `invoices.jsonl`. A line is `{"put":RECORD}` or `{"remove":ID}`: use the
 * last line for each id, and ignore lines before the last `{"clear":true}`. `state.json` has the valid length of each file
 * (`bytes`). Ignore anything beyond it: it was being written when the program was killed.
 * @module
 */
import '../supported-node.js';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { concurrentChangeError, withReadableErrors } from './in-sentences.ts';
import { type Batch, CopyError, type Resource, resources, type Sink, type SyncState } from './sink.ts';

interface Kept {
  source: string;
  bytes: Partial<Record<Resource, number>>;
  state: SyncState;
}

/**
 * Opens the copy in a folder; the first batch creates a missing folder.
 * @param options `source` names the company and its service. A folder with a copy of another source is refused.
 * @throws CopyError if the folder holds something else, or can't be used.
 */
export function openJsonLinesCopy(folder: string, { source }: { source: string }): Sink {
  let kept = withReadableErrors(folder, () => open(folder, source));
  return {
    load: () => kept?.state,
    commit: (batch) =>
      withReadableErrors(folder, () => {
        kept ??= begin(folder, source);
        kept = keep(folder, kept, batch);
      }),
  };
}

function open(folder: string, source: string): Kept | undefined {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (folder === '' || (stats && !stats.isDirectory()))
    throw new CopyError(`${JSON.stringify(folder)} is no folder. Name another one.`);
  const kept = readKept(folder, source);
  // A killed program may have left its new state file, which would block every writer.
  rmSync(newStateFileIn(folder), { force: true });
  return kept;
}

/** Creates a copy without records. Its state file shows that the files written later belong to a copy. */
function begin(folder: string, source: string): Kept {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return replaceState(folder, undefined, () => ({ source, bytes: {}, state: {} }));
}

function keep(folder: string, kept: Kept, batch: Batch): Kept {
  const { resource, state } = batch;
  return replaceState(folder, kept, () => {
    const length = append(join(folder, `${resource}.jsonl`), kept.bytes[resource] ?? 0, textOf(batch));
    return { source: kept.source, bytes: { ...kept.bytes, [resource]: length }, state };
  });
}

const stateFileIn = (folder: string) => join(folder, 'state.json');
const newStateFileIn = (folder: string) => join(folder, 'state.json.new');

function readKept(folder: string, source: string): Kept | undefined {
  const file = stateFileIn(folder);
  if (!existsSync(file)) {
    const other = resources
      .map((resource) => `${resource}.jsonl`)
      .find((name) => existsSync(join(folder, name)));
    if (other === undefined) return undefined;
    throw new CopyError(`${folder} has a file ${other} that belongs to no copy. Name another folder.`);
  }
  const kept = parsed(file);
  if (!kept) throw new CopyError(`${file} belongs to no copy. Name another folder.`);
  if (kept.source !== source)
    throw new CopyError(`${folder} has a copy of ${kept.source}, not of ${source}. Name another folder.`);
  return kept;
}

function parsed(file: string): Kept | undefined {
  try {
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Partial<Kept> | null;
    return kept?.source !== undefined && kept.bytes && kept.state ? (kept as Kept) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function textOf({ clear, put, remove }: Batch): string {
  const lines = [
    ...(clear ? [{ clear }] : []),
    ...put.map((record) => ({ put: record })),
    ...remove.map((id) => ({ remove: id })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Writes text at the end of a file's valid part, over any leftovers of a killed program. @returns the new length. */
function append(file: string, length: number, text: string): number {
  const handle = openSync(file, 'a', 0o600);
  try {
    if (fstatSync(handle).size < length) throw new CopyError(`${file} was cut short by another program.`);
    ftruncateSync(handle, length);
    writeFileSync(handle, text);
    fsyncSync(handle);
    return length + Buffer.byteLength(text);
  } finally {
    closeSync(handle);
  }
}

/**
 * Runs work and replaces the state file with the state that it returns; if it fails, the file stays as it was. The new file
 * is created before the work and serves as a lock: two programs at once can't overwrite each other's data.
 */
function replaceState(folder: string, before: Kept | undefined, work: () => Kept): Kept {
  const [file, newFile] = [stateFileIn(folder), newStateFileIn(folder)];
  const handle = openSync(newFile, 'wx', 0o600);
  try {
    const isAsBefore = before
      ? existsSync(file) && readFileSync(file, 'utf8') === JSON.stringify(before)
      : !existsSync(file);
    if (!isAsBefore) throw concurrentChangeError(folder);
    const after = work();
    writeFileSync(handle, JSON.stringify(after));
    fsyncSync(handle);
    // Another program has removed the new file as a leftover.
    if (!existsSync(newFile)) throw concurrentChangeError(folder);
    renameSync(newFile, file);
    return after;
  } catch (error) {
    rmSync(newFile, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
}
