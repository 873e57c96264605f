// Long: it makes random sequences of moves a second time in a model, on each engine.
import fc from 'fast-check';
import t from 'tap';

import { changeNames } from '../../src/contract/feed.ts';
import { type EngineName, engineNames, openTestDatabase } from '../_server.ts';
import { refusalCodes } from '../server/backoffice/_invalid-changes.ts';
import { openArena, runSequence, type Tally } from './_run.ts';
import { isModelled } from './_model.ts';
import { moveEvents } from '../server/backoffice/_backoffice.ts';

/** Each sequence has at least so many moves, of three companies. */
const MOVES_MIN = 200;
const MOVES_MAX = 240;
/** PostgreSQL asks for several round trips for each move; `make model` takes many more, of each engine alike. */
const SEQUENCES: Record<EngineName, number> = { sqlite: 20, postgres: 5 };
const { MODEL_SEQUENCES: sequences, MODEL_SEED: seed } = process.env;
/** Ends the shrinking of a sequence that fails in time for its seed to be shown: some take longer than a file may. */
const inTime =
  sequences === undefined ? { interruptAfterTimeLimit: 300_000, markInterruptAsFailure: true } : {};

/** A step of a sequence is a seed: what it means depends on what the steps before it have come to. */
const step = fc.noShrink(fc.integer({ min: 0, max: 2 ** 32 - 1 }));

/** Sequences that are long, and shrink by leaving out steps until none can be left out. */
class Sequences extends fc.Arbitrary<number[]> {
  readonly #long = fc.array(step, { minLength: MOVES_MIN, maxLength: MOVES_MAX, size: 'max' });
  readonly #any = fc.array(step, { maxLength: MOVES_MAX, size: 'max' });

  override generate(mrng: fc.Random, biasFactor: number | undefined): fc.Value<number[]> {
    return new fc.Value(this.#long.generate(mrng, biasFactor).value, undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is number[] {
    return this.#any.canShrinkWithoutContext(value);
  }

  override shrink(value: number[], context: unknown): fc.Stream<fc.Value<number[]>> {
    return this.#any.shrink(value, context);
  }
}

const whole: Tally = new Map();

for (const name of engineNames) {
  t.test(`random sequences of moves come to what the model says (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    const arena = openArena(database.engine);
    const numRuns = sequences === undefined ? SEQUENCES[name] : Number(sequences);
    await t.resolves(
      fc.assert(
        fc.asyncProperty(new Sequences(), async (seeds) => {
          await runSequence(arena, seeds);
        }),
        { numRuns, ...inTime, ...(seed === undefined ? {} : { seed: Number(seed) }) },
      ),
    );
    for (const line of reportOf(arena.tally)) t.comment(line);
    for (const [key, count] of arena.tally) whole.set(key, (whole.get(key) ?? 0) + count);
  });
}

t.test('every move was made, every event sent, and every change refused that can be', async (t) => {
  // Nothing here is imported, comes over HTTP or from a source, or meets a database that is away.
  const others = ['unavailable', 'wrong_sums', 'out_of_sequence', 'not_allowed'];
  const codes = refusalCodes.filter((code) => !others.includes(code));
  const names = changeNames().filter(isModelled);
  const expected = [
    ...names.map((name) => `applied ${name}`),
    ...codes.map((code) => `refused ${code}`),
    ...moveEvents.map((kind) => `sent ${kind}`),
    'skipped',
  ];
  const least = Math.max(1, Math.floor((whole.get('sequences') ?? 0) / 20));
  const seldom = expected.filter((key) => (whole.get(key) ?? 0) < least);
  t.strictSame(seldom, [], `each at least ${least} times`);
});

function reportOf(tally: Tally): string[] {
  const countOf = (start: string) =>
    [...tally].reduce((sum, [key, count]) => sum + (key.startsWith(start) ? count : 0), 0);
  const [applied, refused, skipped] = [countOf('applied'), countOf('refused'), countOf('skipped')];
  const all = applied + refused + skipped;
  const share = (count: number) => `${count} (${((100 * count) / all).toFixed(1)} %)`;
  return [
    `${tally.get('sequences') ?? 0} sequences, ${all} moves: ${share(applied)} applied, ` +
      `${share(refused)} refused, ${share(skipped)} skipped`,
    ...[...tally].map(([key, count]) => `${key}: ${count}`).sort(),
  ];
}
