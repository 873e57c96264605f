import t from 'tap';

import type { Answer } from '../../../src/contract/feed.ts';
import { type EngineName, engineNames } from '../../_server.ts';
import {
  differences,
  numberProblems,
  openFed,
  readState,
  type Run,
  runAndKill,
  runWhole,
  stampProblems,
  type State,
} from './_kill.ts';
import { killFeed, refusedCount } from './_kill-feed.ts';

/** How often a feed is killed; `make kills` asks for more. PostgreSQL takes its short form in any case. */
const killCounts: Record<EngineName, number> = { sqlite: Number(process.env.KILLS ?? 5), postgres: 2 };

const feed = killFeed(12);

/** The problems with the answers to a run of the feed, whatever was applied before. */
function answerProblems(answers: readonly Answer[], appliedBefore: ReadonlySet<number>): string[] {
  const made = answers.filter(({ status }) => status !== 'refused');
  const firstApplied = made.findIndex(({ status }) => status === 'applied');
  return [
    ...answers
      .filter(({ line }, index) => line !== index + 1)
      .map(({ line }) => `line ${line} is out of order`),
    ...answers
      .filter(({ id = '', status }) => id.startsWith('refused') !== (status === 'refused'))
      .map((answer) => `line ${answer.line} is ${answer.status}`),
    ...made
      .filter(({ line, status }) => appliedBefore.has(line) && status !== 'skipped')
      .map(({ line }) => `line ${line} is applied twice`),
    ...made
      .filter(({ status }, index) => firstApplied !== -1 && index > firstApplied && status === 'skipped')
      .map(({ line }) => `line ${line} was applied before one that came earlier`),
  ];
}

/** Applies the feed to an empty database with as many kills as are asked for, or as the feed lasts for. */
async function applyWithKills(
  name: EngineName,
  killsMax: number,
): Promise<{ killCount: number; problems: string[]; state: State }> {
  await using fed = await openFed(name, feed);
  const applied = new Map<number, Answer>();
  const problems: string[] = [];
  let killCount = 0;
  let run: Run;
  do {
    run = killCount < killsMax ? await runAndKill(fed) : await runWhole(fed);
    problems.push(...answerProblems(run.answers, new Set(applied.keys())));
    for (const answer of run.answers) if (answer.status === 'applied') applied.set(answer.line, answer);
    if (run.wasKilled) killCount += 1;
  } while (run.wasKilled);
  // The refused lines are why it isn't 0.
  if (run.exitCode !== 1) problems.push(`the last run ended with ${run.exitCode}: ${run.stderr}`);
  if (run.answers.length !== feed.length)
    problems.push(`${run.answers.length} lines were answered: ${run.stderr}`);
  const inOrder = [...applied.values()].sort((a, b) => a.line - b.line);
  problems.push(...stampProblems(feed, inOrder));
  const state = await readState(fed.databaseUrl);
  return { killCount, problems: [...problems, ...numberProblems(state)], state };
}

const undisturbed = Object.fromEntries(
  await Promise.all(engineNames.map(async (name) => [name, await applyWithKills(name, 0)] as const)),
);

t.test('an undisturbed feed makes everything that can be lost or doubled', async (t) => {
  for (const name of engineNames) {
    const { problems, state = {} } = undisturbed[name] ?? {};
    t.strictSame(problems, []);
    t.strictSame(
      Object.keys(state).filter((table) => state[table]?.length === 0),
      [],
    );
    t.equal(state.appliedChanges?.length, feed.length - refusedCount(feed));
    t.strictSame(
      ['2023', '2024'].filter((year) => !state.invoices?.some((row) => row.includes(`"INV-${year}-0010"`))),
      [],
      'the numbers begin anew on the way',
    );
  }
});

t.test('both engines are left with the same', async (t) => {
  t.strictSame(differences(undisturbed.postgres?.state ?? {}, undisturbed.sqlite?.state ?? {}), []);
});

for (const name of engineNames) {
  t.test(`${name}: a feed that is killed and sent again leaves what an undisturbed one leaves`, async (t) => {
    let killCount = 0;
    for (let round = 1; killCount < killCounts[name]; round += 1) {
      const killed = await applyWithKills(name, killCounts[name] - killCount);
      t.strictSame(
        killed.problems,
        [],
        `feed ${round}, ${killed.killCount} kills: each line once, and in order`,
      );
      t.strictSame(
        differences(killed.state, undisturbed[name]?.state ?? {}),
        [],
        `feed ${round}: the same is left`,
      );
      killCount += killed.killCount;
    }
  });
}
