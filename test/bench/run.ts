/*
 * `make bench`: measures, and asserts nothing. Every figure is compared within one run, because machines differ and
 * drift; with --json the same comes as JSON, to be compared with a later run.
 */
import { parseArgs } from 'node:util';

import type { Bench } from './_bench.ts';
import { deliveries } from './deliveries.ts';
import { documents } from './documents.ts';
import { lists } from './lists.ts';
import { load } from './load.ts';
import { moves } from './moves.ts';
import { reads } from './reads.ts';

/** Every bench by its name, in the order in which they run. */
const benches: Readonly<Record<string, Bench>> = { moves, reads, lists, load, deliveries, documents };

const usage = `Usage: node test/bench/run.ts [--json] [name...]

Without a name all of them run, one after the other:

${Object.entries(benches)
  .map(([name, { about }]) => `  ${name.padEnd(10)}  ${about}`)
  .join('\n')}

  --json      print one JSON object with the figures of each bench, and nothing else
`;

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !Object.hasOwn(benches, name));
if (values.help) {
  process.stdout.write(usage);
} else if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}.\n\n${usage}`);
  process.exitCode = 2;
} else {
  await runAll();
}

async function runAll(): Promise<void> {
  const all: Record<string, unknown> = {};
  for (const [name, { about, run }] of Object.entries(benches)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    if (!values.json) process.stdout.write(`${name}: ${about}\n\n`);
    const { text, figures } = await run();
    all[name] = figures;
    if (!values.json) process.stdout.write(`${text}\n\n`);
  }
  if (values.json) process.stdout.write(`${JSON.stringify(all)}\n`);
}
