/** Runs random sequences of moves against the service and the model, and compares what both have come to. */
import { setCompany } from '../../src/server/backoffice/companies.ts';
import { applyChange, type Outcome } from '../../src/server/backoffice/apply.ts';
import { type Backoffice, openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import { Refusal } from '../../src/server/backoffice/refusal.ts';
import type { Change } from '../../src/contract/feed.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { findTexts } from '../../src/server/store/records/record-writes.ts';
import { iso, predict, type Prediction, type World } from './_model.ts';
import { type Chance, chanceOf } from './_chance.ts';
import { british, french, irish, northernIrish, openCompany, unregistered } from './_companies.ts';
import { compare, compareDatabase, Disagreement } from './_comparison.ts';
import { drawProfile, drawStep, moveClock, moves, type Step, type Walk } from './_steps.ts';

/** How often what happened: `applied job.create`, `refused wrong_state`, `skipped`, `sent invoice.paid`. */
export type Tally = Map<string, number>;

/** A database on which sequences run, one after the other, each with companies of its own. */
export interface Arena {
  engine: Engine;
  backoffice: Backoffice;
  setNow: (ms: number) => void;
  tally: Tally;
  companyCount: number;
}

/** @param onNow is told when the clock changes. */
export function openArena(engine: Engine, onNow: (now: Date) => void = () => undefined): Arena {
  let now = new Date(0);
  return {
    engine,
    backoffice: openBackoffice(engine, { now: () => now }),
    setNow: (ms) => {
      now = new Date(ms);
      onNow(now);
    },
    tally: new Map(),
    companyCount: 0,
  };
}

/** How many steps lie between two looks at the whole database. */
const STEPS_BETWEEN_LOOKS = 70;
const TRACE_LINES_MAX = 60;

/**
 * Runs one sequence; each seed is a step.
 * @param afterStep looks at the world after each step.
 * @throws Disagreement with the steps that led to it.
 */
export async function runSequence(
  arena: Arena,
  seeds: readonly number[],
  afterStep?: (world: World) => Promise<void>,
): Promise<World> {
  const walk = await openWalk(arena, seeds[0] ?? 0);
  const trace: string[] = [];
  try {
    for (const [index, seed] of seeds.entries()) {
      await takeStep(arena, walk, seed, trace);
      await afterStep?.(walk.world);
      if ((index + 1) % STEPS_BETWEEN_LOOKS === 0) await compareDatabase(arena, walk.world);
    }
    await compareDatabase(arena, walk.world);
    add(arena.tally, 'sequences');
    for (const { events } of walk.world.companies.values()) {
      for (const { kind } of events) add(arena.tally, `sent ${kind}`);
    }
    return walk.world;
  } catch (error) {
    const steps = trace.slice(-TRACE_LINES_MAX).join('\n');
    const problem =
      error instanceof Disagreement ? error.message : String(error instanceof Error ? error.stack : error);
    throw new Disagreement(`${problem}\nThe steps before it, ${trace.length} in all:\n${steps}`);
  }
}

const starts = [
  '2026-03-27T20:00:00Z',
  '2026-10-23T20:00:00Z',
  '2026-11-20T12:00:00Z',
  '2026-12-30T09:00:00Z',
];

async function openWalk(arena: Arena, seed: number): Promise<Walk> {
  const chance = chanceOf(seed ^ 0x5bd1e995);
  const nowMs = Date.parse(chance.pick(starts) ?? '');
  const world: World = { companies: new Map(), nowMs };
  const others = [northernIrish, unregistered, french];
  for (const template of [irish, british, chance.pick(others) ?? french]) {
    const id = `model-${++arena.companyCount}`;
    world.companies.set(id, await openCompany(arena.engine, { ...template, id }, nowMs));
  }
  return { world, ids: { count: 0 }, sent: [] };
}

async function takeStep(arena: Arena, walk: Walk, seed: number, trace: string[]): Promise<void> {
  const { world } = walk;
  const chance = chanceOf(seed);
  moveClock(walk, chance);
  arena.setNow(world.nowMs);
  await changeProfiles(arena.engine, world, chance);
  const step = drawStep(walk, chance);
  const answer = await answerTo(arena.backoffice, step);
  trace.push(`${iso(world.nowMs)} ${JSON.stringify(step.change)} → ${shortened(answer)}`);
  const lineIds = await lineIdsOf(arena, step, answer);
  const expected: Prediction = step.broken
    ? { status: 'refused', faults: [step.broken] }
    : predict(moves, world, step.change as Change, lineIds);
  compareAnswer(step, answer, expected);
  count(arena.tally, step, answer);
  const { id } = step.change as Partial<Change>;
  if (answer.status === 'applied' && id !== undefined)
    walk.sent = [...walk.sent, step.change as Change].slice(-40);
}

async function changeProfiles(engine: Engine, world: World, chance: Chance): Promise<void> {
  for (const company of world.companies.values()) {
    const changes = drawProfile(chance, company);
    if (!changes) continue;
    await setCompany(engine, company.id, { profile: changes });
    company.profile = { ...company.profile, ...changes };
  }
}

type Answer = Outcome | { status: 'refused'; code: string; path: string; message: string };

async function answerTo(backoffice: Backoffice, { change }: Step): Promise<Answer> {
  try {
    // A spoilt change has no type.
    return await applyChange(backoffice, change as Change);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, path, message } = error;
    return { status: 'refused', code, path, message };
  }
}

function shortened(answer: Answer): string {
  return answer.status === 'applied' ? 'applied' : JSON.stringify(answer);
}

/** The ids that the service gave to lines which came without one, in their order. */
async function lineIdsOf(arena: Arena, { change }: Step, answer: Answer): Promise<string[]> {
  if (answer.status !== 'applied') return [];
  const { company, change: name } = change as Change;
  let record = recordOf(answer) as { convertedInvoiceId?: string; lines?: { id: string }[] } | null;
  if (name === 'quote.convert_to_invoice') {
    const id = record?.convertedInvoiceId ?? '';
    const texts = await arena.engine.transaction((transaction) =>
      findTexts(transaction, 'invoices', company, id),
    );
    record = JSON.parse(texts?.detail ?? '{}') as typeof record;
  }
  // The line ids of the business system begin otherwise.
  return (record?.lines ?? []).map(({ id }) => id).filter((id) => /^lin_[0-9a-f-]{36}$/.test(id));
}

function recordOf(outcome: Outcome & { status: 'applied' }): unknown {
  return JSON.parse(outcome.record ?? 'null');
}

function compareAnswer({ change }: Step, answer: Answer, expected: Prediction): void {
  if (answer.status !== expected.status) {
    throw new Disagreement(`Expected ${JSON.stringify(expected)}, but it was ${JSON.stringify(answer)}.`);
  }
  if (answer.status === 'applied' && expected.status === 'applied') {
    compare('The answer', recordOf(answer), expected.record);
  }
  if (answer.status === 'refused' && expected.status === 'refused') {
    const named = expected.faults.filter(({ code }) => code === answer.code);
    const isExpected = named.some(({ path = answer.path }) => path === answer.path);
    // A fault of a stored record has no place in the change.
    const isPlaceOpen = named.some(({ path }) => path === undefined);
    if (!isExpected || !(isPlaceOpen || namesValue(change, answer))) {
      throw new Disagreement(
        `Expected ${JSON.stringify(expected.faults)}, but got ${JSON.stringify(answer)}.`,
      );
    }
  }
}

/** Whether a refusal's path leads to a value of the change, which its message names where it is an id, or to a gap. */
function namesValue(
  change: unknown,
  { code, path, message }: { code: string; path: string; message: string },
): boolean {
  let value = change;
  const names = path.split('/').slice(1);
  for (const [index, name] of names.entries()) {
    if (typeof value !== 'object' || value === null) return false;
    if (!Object.hasOwn(value, name)) return code === 'invalid_change' && index === names.length - 1;
    value = (value as Record<string, unknown>)[name];
  }
  const isId = ['unknown_record', 'unknown_company', 'duplicate_id'].includes(code) && path !== '';
  return !isId || message.includes(JSON.stringify(value));
}

function count(tally: Tally, { change }: Step, answer: Answer): void {
  const { change: name } = change as Partial<Change>;
  const what = { applied: name, skipped: undefined, refused: answer.status === 'refused' ? answer.code : '' };
  add(tally, [answer.status, what[answer.status]].filter(Boolean).join(' '));
}

function add(tally: Tally, key: string): void {
  tally.set(key, (tally.get(key) ?? 0) + 1);
}
