/*
 * A process that runs test files one after another, which run.ts hands to it: tap and most of the program are loaded once for all of
 * them.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { root, runFile } from './_tap.ts';

/** Long enough for sockets to close that a test has told to. */
const CLOSED_AFTER_MS = 5_000;

/** This process's own output is a pipe too, pipes to other processes end with these, and a file that is being read holds nothing. */
const PASSING = new Set(['PipeWrap', 'FSReqCallback']);

/** Listened for once, and not anew for each file. */
const disconnected = once(process, 'disconnect');

await runFiles();

async function runFiles(): Promise<void> {
  let before = listState();
  for (let file = await nextFile(); file; file = await nextFile()) {
    const url = pathToFileURL(join(process.cwd(), file)).href;
    await runFile(file, url);
    const left = new Set(await leftBehind(before));
    for (const what of left) root.fail(`${file} leaves behind: ${what}`);
    // It counts once, and not for the files after it too.
    if (left.size > 0) before = listState();
  }
  root.end();
  // Nothing that a file has left open keeps the run waiting: it has been told of.
  process.exit();
}

/** Undefined or empty after the last one. */
async function nextFile(): Promise<string | undefined> {
  if (!process.connected) return undefined;
  // tap lets go of the channel, as it expects nothing to be asked on it.
  process.channel?.ref();
  process.send?.('next');
  const [file] = (await Promise.race([once(process, 'message'), disconnected])) as [string?];
  return file;
}

/** State that a file shares with those after it, and has to leave as it was. */
function listState(): string[] {
  const environment = Object.entries(process.env).map(([name, value]) => `${name}=${value}`);
  const open = process.getActiveResourcesInfo().filter((kind) => !PASSING.has(kind));
  return [`folder ${process.cwd()}`, ...environment, ...open];
}

async function leftBehind(before: readonly string[]): Promise<string[]> {
  const deadline = performance.now() + CLOSED_AFTER_MS;
  for (;;) {
    const left = [...before];
    const more = listState().filter((one) => !(left.includes(one) && left.splice(left.indexOf(one), 1)));
    if (more.length === 0 || performance.now() > deadline) return more;
    await pause(10);
  }
}
