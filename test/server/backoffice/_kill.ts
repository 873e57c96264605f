/** Runs of a feed that are killed, and all that a run leaves in a database. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { Test } from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import type { Answer } from '../../../src/contract/feed.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../../src/server/store/migrations/migrate.ts';
import { openWorkplace, type Running, type Workplace } from '../../_command.ts';
import { type EngineName, STORY_NOW } from '../../_server.ts';
import type { ServerPair } from '../../_standby.ts';
import { answersIn, feedOf } from './_feed.ts';
import { fedCompanies } from './_kill-feed.ts';
import { addWebhook } from './_backoffice.ts';
import { irishProfile } from './_parties.ts';

export type Fed = Workplace & { file: string };

/** A workplace with the companies of the feed, each with a webhook for every event, and the feed as a file. */
export async function openFed(name: EngineName, feed: readonly object[], pair?: ServerPair): Promise<Fed> {
  const workplace = await openWorkplace(name, { pair });
  const file = join(workplace.folder, 'feed.jsonl');
  writeFileSync(file, feedOf(feed));
  await using engine = await openEngine(workplace.databaseUrl);
  await migrate(engine);
  for (const { id, currency, countryCode, vatId } of fedCompanies) {
    const profile = { ...irishProfile, countryCode, vatId };
    await createCompany(engine, id, { currency, profile }, STORY_NOW);
    await addWebhook(engine, id, 'whk_all');
  }
  return { ...workplace, file };
}

/** A run of the feed, with its answers until it was killed or came to its end. */
export interface Run {
  wasKilled: boolean;
  exitCode: number | null;
  stderr: string;
  answers: Answer[];
}

/** How long after its first change a run is killed at the latest: a feed outlives several kills. */
const LIFE_MS_MAX = 100;
/** About as long as the command takes to start and to skip what was applied. */
const START_MS_MAX = 1_000;

/** Starts the feed and kills it at a random instant, unless it ends before. */
export async function runAndKill({ start, file }: Fed): Promise<Run> {
  const running = start(['apply', file]);
  // One in five is killed while it starts or skips, the others while they apply.
  if (Math.random() < 0.2) {
    await within(Math.random() * START_MS_MAX, running.ended);
  } else {
    await Promise.race([firstApplied(running), running.ended]);
    await within(Math.random() * LIFE_MS_MAX, running.ended);
  }
  return kill(running);
}

export async function runWhole({ start, file }: Fed): Promise<Run> {
  const running = start(['apply', file]);
  await running.ended;
  return kill(running);
}

/** Applies a feed here, undisturbed. @returns the state that it leaves. */
export async function runUndisturbed(name: EngineName, feed: readonly object[]): Promise<State> {
  await using fed = await openFed(name, feed);
  await runWhole(fed);
  return await readState(fed.databaseUrl);
}

export async function kill({ end, output }: Running): Promise<Run> {
  const { exitCode, signal } = await end('SIGKILL');
  // The last answer may have been cut off.
  const whole = output.stdout.slice(0, output.stdout.lastIndexOf('\n') + 1);
  return { wasKilled: signal !== null, exitCode, stderr: output.stderr, answers: answersIn(whole) };
}

export async function within(ms: number, ended: Promise<unknown>): Promise<void> {
  await Promise.race([pause(ms), ended]);
}

function firstApplied({ child, output }: Running): Promise<void> {
  return new Promise((resolve) => {
    child.stdout?.on('data', () => {
      if (output.stdout.includes('"status":"applied"')) resolve();
    });
  });
}

/** All that moves leave behind: for each table its rows as texts, in order. */
export type State = Record<string, string[]>;

/**
 * The columns of each table, as texts. The events and the deliveries of a company are in the order of their ids,
 * which is the order in which they are sent. A value that follows the clock is called a stamp.
 */
const tables: Record<string, string> = {
  people: 'company, body FROM people ORDER BY company, id',
  customers: 'company, body FROM customers ORDER BY company, id',
  forms: 'company, body FROM forms ORDER BY company, id',
  jobs: 'company, body FROM jobs ORDER BY company, id',
  submissions: 'company, body FROM submissions ORDER BY company, id',
  invoices: 'company, body, detail, unpublished FROM invoices ORDER BY company, id',
  quotes: 'company, body, detail FROM quotes ORDER BY company, id',
  events: 'company, kind, created_at AS stamp, data FROM events ORDER BY company, id',
  deliveries: `d.company, webhook, state, attempt_count, kind, data
    FROM deliveries d JOIN events e ON e.company = d.company AND e.id = d.event ORDER BY d.company, d.id`,
  numberSeries: 'company, series, last_number FROM number_series ORDER BY company, series',
  feedPositions: 'company, source, sequence, change_id FROM feed_positions ORDER BY company, source',
  appliedChanges: 'company, id, change FROM applied_changes ORDER BY company, id',
};

/**
 * Reads what moves leave behind. A stamp is shown as its rank among those of its company: states are equal only if
 * their changes were stamped in the same order.
 */
export async function readState(databaseUrl: string): Promise<State> {
  await using engine = await openEngine(databaseUrl);
  const state: State = {};
  for (const [table, columns] of Object.entries(tables)) {
    const rows = (await engine.run(`SELECT ${columns}`)) as Record<string, string | number>[];
    state[table] = rows.map(({ stamp, ...row }) =>
      [...Object.values(row), ...(stamp === undefined ? [] : [`"updatedAt":"${stamp}"`])].join(' '),
    );
  }
  return withRanks(state);
}

/** The times of change in a row's text. A submission never changes, and says when it came instead. */
function stampsIn(row: string): RegExp {
  return row.includes('"formRevision"')
    ? /(?<="(?:updatedAt|createdAt)":")[^"]+/g
    : /(?<="updatedAt":")[^"]+/g;
}

const companyOf = (row: string) => row.slice(0, row.indexOf(' '));

function withRanks(state: State): State {
  const rows = Object.values(state).flat();
  const ranks = new Map<string, Map<string, number>>();
  for (const { id } of fedCompanies) {
    const own = rows.filter((row) => companyOf(row) === id);
    const stamps = new Set(own.flatMap((row) => row.match(stampsIn(row)) ?? []));
    ranks.set(id, new Map([...stamps].sort().map((stamp, rank) => [stamp, rank])));
  }
  const ranked = (row: string) =>
    row.replace(stampsIn(row), (stamp) => `stamp ${ranks.get(companyOf(row))?.get(stamp) ?? 'unknown'}`);
  return Object.fromEntries(Object.entries(state).map(([table, own]) => [table, own.map(ranked)]));
}

/** Where a state differs from what it should be: the first row of each table that does. */
export function differences(found: State, wanted: State): string[] {
  return Object.keys(wanted).flatMap((table) => {
    const [own = [], others = []] = [found[table], wanted[table]];
    const index = Array.from({ length: Math.max(own.length, others.length) }).findIndex(
      (_row, row) => own[row] !== others[row],
    );
    if (index === -1) return [];
    return [`${table} ${index}: ${own[index] ?? 'no row'} instead of ${others[index] ?? 'no row'}`];
  });
}

/** What is untrue of a run's answers, given what was applied by the runs before it. */
export function problemsOf(answers: readonly Answer[], before: ReadonlyMap<number, Answer>): string[] {
  return answers.flatMap(({ line, id = '', status }, index) => {
    const isRefused = id.startsWith('refused');
    return [
      ...(line === index + 1 ? [] : [`line ${line} is out of order`]),
      ...(isRefused === (status === 'refused') ? [] : [`line ${line} is ${status}`]),
      ...(before.has(line) && status !== 'skipped' ? [`line ${line} is applied twice`] : []),
    ];
  });
}

/** What is wrong with the end of a feed: the last run, and all that it left. The refused lines are why it doesn't end with 0. */
export function endProblems(
  feed: readonly object[],
  { exitCode, stderr, answers }: Run,
  applied: ReadonlyMap<number, Answer>,
  state: State,
): string[] {
  const inOrder = [...applied.values()].sort((a, b) => a.line - b.line);
  return [
    ...(exitCode === 1 ? [] : [`the last run ended with ${exitCode}: ${stderr}`]),
    ...(answers.length === feed.length ? [] : [`${answers.length} lines were answered: ${stderr}`]),
    ...stampProblems(feed, inOrder),
    ...numberProblems(state),
  ];
}

/** What became of a feed that was killed so often. */
export interface Killed {
  killCount: number;
  problems: string[];
  state: State;
}

/** Applies feeds until so many runs were killed; each has to leave what an undisturbed one leaves. */
export async function leavesTheSame(
  t: Test,
  kills: number,
  undisturbed: State,
  applyWithKills: (killsMax: number) => Promise<Killed>,
): Promise<void> {
  for (let killCount = 0, round = 1; killCount < kills; round += 1) {
    const killed = await applyWithKills(kills - killCount);
    const about = `feed ${round}, ${killed.killCount} kills`;
    t.strictSame(killed.problems, [], `${about}: each line once, and in order`);
    t.strictSame(differences(killed.state, undisturbed), [], `${about}: the same is left`);
    killCount += killed.killCount;
  }
}

/** Numbers that were left out or given out twice: of each series, those of its documents have to run from 1 on. */
export function numberProblems({ invoices = [], quotes = [] }: State): string[] {
  // The versions of a quote share its number.
  const firstVersions = quotes.filter((row) => row.includes('"version":1,'));
  const numbered = [...invoices, ...firstVersions].flatMap((row) => {
    const [, name, number] = /"number":"([A-Z]+-\d{4})-(\d+)"/.exec(row) ?? [];
    return name === undefined ? [] : [{ series: `${companyOf(row)} ${name}`, number }];
  });
  return [...Map.groupBy(numbered, ({ series }) => series)].flatMap(([series, own]) => {
    const found = own.map(({ number }) => number).sort();
    const wanted = found.map((_number, index) => String(index + 1).padStart(4, '0'));
    return found.join() === wanted.join() ? [] : [`${series}: ${found.join()}`];
  });
}

/** Stamps that don't grow: each move of a company is stamped later than all before, unless it changes nothing. */
function stampProblems(feed: readonly object[], answers: readonly Answer[]): string[] {
  const last = new Map<unknown, string>();
  const known = new Set<string>();
  return answers.flatMap((answer) => {
    // Every line of the feed is a change, and so has a company.
    const { company } = feed[answer.line - 1] as { company: string };
    const { record } = answer as { record?: { id: string; updatedAt?: string } | null };
    if (!record?.updatedAt) return [];
    const { id, updatedAt } = record;
    const isUnchanged = known.has(`${company} ${id} ${updatedAt}`);
    const isLater = updatedAt > (last.get(company) ?? '');
    if (!isUnchanged) last.set(company, updatedAt);
    known.add(`${company} ${id} ${updatedAt}`);
    return isUnchanged || isLater ? [] : [`line ${answer.line}: ${updatedAt}`];
  });
}
