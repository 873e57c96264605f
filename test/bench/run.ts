/*
 * `make bench`: measures, and asserts nothing. Every figure is compared within one run, because machines differ and
 * drift. Names of benches as arguments choose some of them.
 */
import { benchDeliveries } from './deliveries.ts';
import { benchDocuments } from './documents.ts';
import { benchLists } from './lists.ts';
import { benchLoad } from './load.ts';
import { benchMoves } from './moves.ts';
import { benchReads } from './reads.ts';

/** The benches in the order in which they run; each gives a text of tables. */
const benches: Record<string, () => Promise<string>> = {
  moves: benchMoves,
  reads: benchReads,
  lists: benchLists,
  load: benchLoad,
  deliveries: benchDeliveries,
  documents: benchDocuments,
};

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(benches);
const unknown = chosen.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.\n`,
  );
  process.exitCode = 2;
} else {
  for (const name of chosen) process.stdout.write(`${name}\n\n${await benches[name]?.()}\n\n`);
}
