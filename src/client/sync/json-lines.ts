/**
 * Keeps a copy of a company's records in files of JSON Lines, for `sync`. It needs Node.
 *
 * Each resource has a file, `invoices.jsonl` for example, which only grows. A line is `{"put":RECORD}` or
 * `{"remove":ID}`, and the last line about an id counts. `state.json` says how long each file is (`bytes`): what comes
 * after that was being written when the program was killed, and has to be left out.
 * @module
 */
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
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { type Batch, CopyError, type Resource, resources, type Sink, type SyncState } from './sink.ts';

/** The content of `state.json`. */
interface Kept {
  source: string;
  /** The length of each file. */
  bytes: Partial<Record<Resource, number>>;
  state: SyncState;
}

/**
 * Opens the copy in a folder; a folder that isn't there is made with the first batch.
 * @param options `source` names the company and its service. A folder with a copy of another is refused.
 * @throws CopyError when the folder holds something else, or can't be used.
 */
export function openJsonLinesCopy(folder: string, { source }: { source: string }): Sink {
  let kept = readKept(folder, source);
  const stateFile = join(folder, 'state.json');
  return {
    load: () => kept?.state,
    commit: (batch) => {
      if (!kept) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        kept = { source, bytes: {}, state: {} };
        // Tells the files that follow from those of something else.
        replace(stateFile, JSON.stringify(kept));
      } else if (readFileSync(stateFile, 'utf8') !== JSON.stringify(kept)) {
        throw new CopyError(`Something else has brought ${folder} up to date meanwhile. Start again.`);
      }
      const { resource, state } = batch;
      const length = append(join(folder, `${resource}.jsonl`), kept.bytes[resource] ?? 0, textOf(batch));
      const next = { source, bytes: { ...kept.bytes, [resource]: length }, state };
      replace(stateFile, JSON.stringify(next));
      kept = next;
    },
  };
}

function readKept(folder: string, source: string): Kept | undefined {
  const file = join(folder, 'state.json');
  if (!existsSync(file)) {
    const other = resources
      .map((resource) => `${resource}.jsonl`)
      .find((name) => existsSync(join(folder, name)));
    if (other === undefined) return undefined;
    throw new CopyError(`${folder} has a file ${other} that is of no copy. Name another folder.`);
  }
  const kept = parsed(file);
  if (!kept) throw new CopyError(`${file} is of no copy. Name another folder.`);
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

function textOf({ put, remove }: Batch): string {
  const lines = [...put.map((record) => ({ put: record })), ...remove.map((id) => ({ remove: id }))];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Writes after what is kept, over what was being written when a program was killed. @returns the new length. */
function append(file: string, length: number, text: string): number {
  const handle = openSync(file, 'a', 0o600);
  try {
    if (fstatSync(handle).size < length) throw new CopyError(`${file} was cut short by something else.`);
    ftruncateSync(handle, length);
    writeFileSync(handle, text);
    fsyncSync(handle);
    return length + Buffer.byteLength(text);
  } finally {
    closeSync(handle);
  }
}

/** Replaces a file as a whole, or leaves it as it was. */
function replace(file: string, text: string): void {
  const handle = openSync(`${file}.new`, 'w', 0o600);
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.new`, file);
}
