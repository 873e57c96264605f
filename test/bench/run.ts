/*
 * `make bench`: measures, and asserts nothing. Every figure is compared within one run, because machines differ and
 * drift; `node test/bench/run.ts --json` gives the same as JSON, to be compared with a later run.
 */
import { tableOf } from './_rounds.ts';
import { benchFeed } from './feed.ts';
import { benchMoves } from './moves.ts';

const isJson = process.argv.includes('--json');
const tell = (text: string) => {
  if (!isJson) process.stdout.write(text);
};

tell(
  'Moves, one transaction each; the ratio is to the first row. PostgreSQL runs without fsync, as in the tests.\n\n',
);
const moves = await benchMoves();
tell(`${tableOf('moves', moves)}\n\n`);

const feed = await benchFeed();
tell(
  `A feed of ${feed.lines.toLocaleString('en')} lines on SQLite: ${feed.seconds.toFixed(1)} s, ` +
    `${Math.round(feed.lines / feed.seconds).toLocaleString('en')} lines/s; ` +
    `${Math.round(feed.earlyMb)} MB of memory after a quarter of it, ${Math.round(feed.highestMb)} MB at most.\n`,
);
if (isJson) process.stdout.write(`${JSON.stringify({ moves, feed })}\n`);
