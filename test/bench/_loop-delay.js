/*
 * Loaded into a server before its program, to see how long its event loop is blocked. On SIGUSR2 it writes the
 * longest delay since the last time, in milliseconds, into the file that LOOP_DELAY_FILE names.
 *
 * It is plain JavaScript: a type to strip would bring Node's compiler into the process, with 18 MB that are not the
 * server's (see ../../src/fieldledger.js).
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The histogram holds the time between two ticks of a timer, so this belongs to each of its values. */
const RESOLUTION_MS = 1;

const file = process.env.LOOP_DELAY_FILE ?? '';
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
process.on('SIGUSR2', () => {
  const inMs = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  writeFileSync(`${file}.new`, JSON.stringify({ p99: inMs(delay.percentile(99)), longest: inMs(delay.max) }));
  // Whoever waits for the file finds all of it.
  renameSync(`${file}.new`, file);
  delay.reset();
});
