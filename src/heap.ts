import { setFlagsFromString } from 'node:v8';

/**
 * How V8 keeps the heap of a server small, beside the size in the first line of `fieldledger.js`, which can't be set any
 * more once Node runs. A V8 that doesn't know one of them says so on standard error and goes on.
 * - Left to itself it stops collecting what dies young while it marks the rest, and takes all of that for alive: some
 *   30 MB each time, on a server with a thousand connections.
 * - It lets the heap grow to as much as four times what is alive before it looks for what isn't. Little of a request
 *   grows old here (see `takeOut`), so that to look early, after a fifth, costs nothing.
 * - It has other threads help to collect what dies young. Next to nothing of that is alive here: to wake them takes a
 *   third of the time of a collection.
 */
const FLAGS = ['--no-separate-gc-phases', '--heap-growing-percent=20', '--no-parallel-scavenge'];

/** Sets them for this process, from now on. */
export function boundHeap(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
