// Long: it kills a real feed and starts it again.
import t from 'tap';

import type { Answer } from '../../../src/contract/feed.ts';
import { type EngineName, engineNames } from '../../_server.ts';
import {
  differences,
  endProblems,
  type Killed,
  leavesTheSame,
  openFed,
  problemsOf,
  readState,
  type Run,
  runAndKill,
  runWhole,
} from './_kill.ts';
import { killFeed, refusedCount } from './_kill-feed.ts';

/** How often a feed is killed; `make kills` asks for more. PostgreSQL takes its short form in any case. */
const killCounts: Record<EngineName, number> = { sqlite: Number(process.env.KILLS ?? 3), postgres: 2 };

const feed = killFeed(12);

/** The problems with the answers to a run of the feed, whatever was applied before. */
function answerProblems(answers: readonly Answer[], before: ReadonlyMap<number, Answer>): string[] {
  const made = answers.filter(({ status }) => status !== 'refused');
  const firstApplied = made.findIndex(({ status }) => status === 'applied');
  const late = made.filter(({ status }, index) => index > firstApplied && status === 'skipped');
  const isInOrder = firstApplied === -1 || late.length === 0;
  return [
    ...problemsOf(answers, before),
    ...(isInOrder ? [] : late.map(({ line }) => `line ${line} was applied before one that came earlier`)),
  ];
}

/** Applies the feed to an empty database with as many kills as are asked for, or as the feed lasts for. */
async function applyWithKills(name: EngineName, killsMax: number): Promise<Killed> {
  await using fed = await openFed(name, feed);
  const applied = new Map<number, Answer>();
  const problems: string[] = [];
  let killCount = 0;
  let run: Run;
  do {
    run = killCount < killsMax ? await runAndKill(fed) : await runWhole(fed);
    problems.push(...answerProblems(run.answers, applied));
    for (const answer of run.answers) if (answer.status === 'applied') applied.set(answer.line, answer);
    if (run.wasKilled) killCount += 1;
  } while (run.wasKilled);
  const state = await readState(fed.databaseUrl);
  return { killCount, problems: [...problems, ...endProblems(feed, run, applied, state)], state };
}

const undisturbed = Object.fromEntries(
  await Promise.all(engineNames.map(async (name) => [name, await applyWithKills(name, 0)] as const)),
);

t.test('an undisturbed feed makes everything that can be lost or doubled', async (t) => {
  for (const name of engineNames) {
    const { problems, state = {} } = undisturbed[name] ?? {};
    t.strictSame(problems, []);
    const empty = Object.keys(state).filter((table) => state[table]?.length === 0);
    t.strictSame(empty, []);
    t.equal(state.appliedChanges?.length, feed.length - refusedCount(feed));
    for (const year of ['2023', '2024'])
      t.ok(
        state.invoices?.some((row) => row.includes(`"INV-${year}-0010"`)),
        'the numbers begin anew on the way',
      );
  }
});

t.test('both engines are left with the same', async (t) => {
  t.strictSame(differences(undisturbed.postgres?.state ?? {}, undisturbed.sqlite?.state ?? {}), []);
});

for (const name of engineNames)
  t.test(`${name}: a feed that is killed and sent again leaves what an undisturbed one leaves`, async (t) => {
    const { state = {} } = undisturbed[name] ?? {};
    await leavesTheSame(t, killCounts[name], state, (killsMax) => applyWithKills(name, killsMax));
  });
