import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { lockForMoves } from '../../../../src/server/store/records/moves.ts';
import { changeNumbering, takeNextNumber } from '../../../../src/server/store/records/number-series.ts';
import { STORY_NOW } from '../../../_server.ts';
import { onEachStore, openSeveral } from '../_stores.ts';

/** Takes a number in a transaction of its own. */
function take(engine: Engine, series: string, company = 'acme'): Promise<number> {
  return engine.transaction((transaction) => takeNextNumber(transaction, company, series));
}

async function takeInVain(engine: Engine, series: string, count: number): Promise<void> {
  const undone = new Error('undone');
  const work = engine.transaction(async (transaction) => {
    for (let taken = 0; taken < count; taken += 1) await takeNextNumber(transaction, 'acme', series);
    throw undone;
  });
  await work.catch((error: unknown) => {
    if (error !== undone) throw error;
  });
}

const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
const inOrder = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

onEachStore('a series of numbers', async (t, { engine, url, name }) => {
  for (const company of ['acme', 'other']) await createCompany(engine, company, {}, STORY_NOW);

  await t.test('begins with 1 and goes on by 1, apart from every other series and company', async (t) => {
    const asked = ['a', 'a', 'b', 'A', 'a', 'b', ' a', 'INV-{year}-{number:4}', 'INV-{year}-{number}'];
    const taken: number[] = [];
    for (const series of asked) taken.push(await take(engine, series));
    t.strictSame(taken, [1, 2, 1, 1, 3, 2, 1, 1, 1]);
    t.equal(await take(engine, 'a', 'other'), 1);
  });

  await t.test('gives several numbers to one transaction', async (t) => {
    const taken = await engine.transaction(async (transaction) => [
      await takeNextNumber(transaction, 'acme', 'several'),
      await takeNextNumber(transaction, 'acme', 'several'),
      await takeNextNumber(transaction, 'acme', 'between'),
      await takeNextNumber(transaction, 'acme', 'several'),
    ]);
    t.strictSame(taken, [1, 2, 1, 3]);
  });

  await t.test('has no gap where a transaction was undone', async (t) => {
    await takeInVain(engine, 'undone', 1);
    t.equal(await take(engine, 'undone'), 1);
    await takeInVain(engine, 'undone', 3);
    t.equal(await take(engine, 'undone'), 2);
  });

  await t.test('has no gap and no twin among several processes, some of which undo theirs', async (t) => {
    await using processes = await openSeveral(url, name === 'sqlite' ? 2 : 4);
    const { engines } = processes;
    const taken: number[] = [];
    const work = Array.from({ length: 80 }, async (_, index) => {
      const opened = engines[index % engines.length] ?? engine;
      if (index % 5 === 0) await takeInVain(opened, 'shared', 1 + (index % 3));
      else taken.push(await take(opened, 'shared'));
    });
    await Promise.all(work);
    t.strictSame(inOrder(taken), oneTo(64));
  });

  await t.test('goes on where it is told to', async (t) => {
    await engine.transaction((transaction) =>
      changeNumbering(transaction, 'acme', async ({ formats }) => ({ formats, lastNumbers: { told: 41 } })),
    );
    t.equal(await take(engine, 'told'), 42);
  });
});

onEachStore('numbers that are set while others are taken', async (t, { engine, url }) => {
  await using second = await openEngine(url);
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const taken: number[] = [];
  // As a move does.
  const move = () =>
    engine.transaction(async (transaction) => {
      await lockForMoves(transaction, 'acme');
      taken.push(await takeNextNumber(transaction, 'acme', 'set'));
    });
  // To the last number that was given out: whoever sets that doesn't mean to give one out twice.
  const set = () =>
    second.transaction((transaction) => changeNumbering(transaction, 'acme', async (numbering) => numbering));
  await Promise.all(Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? set() : move())));
  t.strictSame(inOrder(taken), oneTo(40), 'none is given out twice');
});
