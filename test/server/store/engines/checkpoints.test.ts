import { existsSync, statSync } from 'node:fs';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';

import { sql } from 'kysely';
import t from 'tap';

import { keepCheckpoints } from '../../../../src/server/store/engines/checkpoints.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { openWorkplace, until } from '../../../_command.ts';

const PAGE_BYTES = 4_096;
const MB = 1_000_000;

/** Tells of so many commits that a thread is started. */
function noteMany({ noteCommit }: { noteCommit: () => void }): void {
  for (let count = 0; count < 200; count += 1) noteCommit();
}

t.test('the log stays small while one commit follows another, and what it held is in the file', async (t) => {
  await using workplace = await openWorkplace();
  const path = workplace.databaseUrl.slice('sqlite:'.length);
  let sizeMax = 0;
  {
    await using engine = await openEngine(workplace.databaseUrl);
    await engine.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT) STRICT');
    for (let commit = 0; commit < 3_000; commit += 1) {
      await engine.transaction(async (transaction) => {
        await sql`INSERT INTO notes (text) VALUES (${'x'.repeat(8 * PAGE_BYTES)})`.execute(transaction);
      });
      if (commit % 10 === 0) await setImmediate();
      if (commit % 10 === 0) sizeMax = Math.max(sizeMax, statSync(`${path}-wal`).size);
    }
    t.match(await engine.run('SELECT COUNT(*) AS count FROM notes'), [{ count: 3_000 }]);
  }
  t.ok(sizeMax > 5 * MB, 'the commits left the work to the thread');
  t.ok(sizeMax < 90 * MB, `of 110 MB it held ${Math.round(sizeMax / MB)} at most`);
  t.notOk(existsSync(`${path}-wal`), 'and is gone when the database is closed');
  await using engine = await openEngine(workplace.databaseUrl);
  t.match(await engine.run('SELECT COUNT(*) AS count FROM notes'), [{ count: 3_000 }]);
  t.strictSame(await engine.run('PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
});

t.test('commits do what the thread should have done, when it can not', async (t) => {
  await using workplace = await openWorkplace();
  const asked: number[] = [];
  {
    await using checkpoints = keepCheckpoints(`${workplace.folder}/nowhere/work.db`, (pages) =>
      asked.push(pages),
    );
    noteMany(checkpoints);
    await until(() => asked.length > 0);
    t.strictSame(asked, [1_000]);
    noteMany(checkpoints);
    await pause(100);
  }
  t.strictSame(asked, [1_000], 'nothing is asked of it any more, and it is closed without it');
});

t.test('there is no thread for a few commits, and one for many, which ends with the engine', async (t) => {
  await using workplace = await openWorkplace();
  const path = `${workplace.folder}/work.db`;
  await using engine = await openEngine(`sqlite:${path}`);
  await engine.run('CREATE TABLE notes (id INTEGER)');
  const asked: number[] = [];
  const checkpoints = keepCheckpoints(path, (pages) => asked.push(pages));
  for (let count = 0; count < 199; count += 1) checkpoints.noteCommit();
  await pause(300);
  t.strictSame(asked, []);
  checkpoints.noteCommit();
  await until(() => asked.length > 0);
  t.strictSame(asked, [16_000]);
  await checkpoints[Symbol.asyncDispose]();
  t.strictSame(asked, [16_000]);
});
