/*
 * One of the writers of sync.test.ts, as a process of its own: in one process with the reader, SQLite's writers would
 * hardly let it read. Its arguments are the database, the company, how many changes to make, a seed, and by how many
 * milliseconds its clock is off, one number after the other.
 */
import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { write } from './_sync.ts';

/** How often the clock is read before it jumps. */
const READS_PER_SKEW = 50;

const [url = '', company = '', count = '0', seed = '0', ...skews] = process.argv.slice(2);
await using engine = await openEngine(url);
let reads = 0;
const now = () => {
  const skew = Number(skews[Math.floor(reads++ / READS_PER_SKEW) % skews.length] ?? 0);
  return new Date(Date.now() + skew);
};
await write(openBackoffice(engine, { now }), company, Number(count), Number(seed));
