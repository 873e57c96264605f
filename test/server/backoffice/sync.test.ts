// Long: real processes read while others write.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { createKey } from '../../../src/server/features/keys/keys.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../../src/server/store/migrations/migrate.ts';
import { openWorkplace, type Workplace } from '../../_command.ts';
import { type EngineName, engineNames } from '../../_server.ts';
import { customerSave, formSave, personSave } from './_changes.ts';
import { irishCompany } from './_parties.ts';
import { Copy, documentedSync, sourceOf, write } from './_sync.ts';

const CHANGES = Number(process.env.SYNC_CHANGES ?? 50);
const WRITERS = [1, 2];
const HOUR_MS = 3_600_000;
/** As much as a transaction may take from its stamp to its end, and the second that `Date` leaves out. */
const SHORT_SLACK_MS = 2_000;
const DOCUMENTED_SLACK_MS = 60_000;
/** The tests ask as often as they like. */
const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '1000000' };

/** A company with a person, a published form and a customer for each writer. */
async function openCompany(engine: Engine, id: string, now: () => Date): Promise<string> {
  await createCompany(engine, id, irishCompany, now());
  const backoffice = openBackoffice(engine, { now });
  for (const change of [
    personSave({ id: 'per_1' }),
    formSave({ id: 'frm' }),
    { change: 'form.publish', with: { id: 'frm' } } as const,
    ...WRITERS.map((writer) => customerSave({ id: `w${writer}` })),
  ])
    await applyChange(backoffice, { company: id, ...change });
  const { key } = await createKey(engine, { prefix: 'fl', company: id, name: 'Sync', scopes, now: now() });
  return key;
}

/** Writers, each a process with a clock of its own, while a reader reads. */
async function writeWhileReading(
  place: Workplace,
  copy: Copy,
  company: string,
  skewsMs: readonly number[],
): Promise<void> {
  const script = join(import.meta.dirname, '_sync-writer.ts');
  const written = Promise.all(
    WRITERS.map(async (seed) => {
      const args = [script, place.databaseUrl, company, CHANGES, seed, ...skewsMs].map(String);
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      const [exitCode] = (await once(child, 'close')) as [number | null];
      if (exitCode !== 0) throw new Error(`Writer ${seed} ended with ${exitCode}.`);
    }),
  );
  const end = new AbortController();
  const reading = (async () => {
    do await copy.update();
    while (!end.signal.aborted);
  })();
  await written.finally(() => end.abort());
  await reading;
}

async function prepare(t: Test, name: EngineName): Promise<{ place: Workplace; engine: Engine }> {
  const place = await openWorkplace(name);
  const engine = await openEngine(place.databaseUrl);
  t.teardown(async () => {
    await engine[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });
  await migrate(engine);
  return { place, engine };
}

for (const name of engineNames) {
  t.test(`a reader that syncs as documented misses nothing (${name})`, async (t) => {
    const { place, engine } = await prepare(t, name);
    const realNow = () => new Date();
    const busyKey = await openCompany(engine, 'busy', realNow);
    const confusedKey = await openCompany(engine, 'confused', realNow);
    // This company's last change is three hours old before anybody reads.
    const quietKey = await openCompany(engine, 'quiet', () => new Date(Date.now() - 3 * HOUR_MS));
    const { greeting } = await place.serve([], UNLIMITED);
    const copyOf = async (key: string, slackMs: number) =>
      new Copy(await documentedSync(greeting.address, key, slackMs));

    await t.test('while two write, with hardly any slack', async (t) => {
      const copy = await copyOf(busyKey, SHORT_SLACK_MS);
      await writeWhileReading(place, copy, 'busy', [0]);
      await copy.update();
      t.strictSame(copy.contents(), await sourceOf(engine, 'busy'));
    });

    await t.test('while two write under clocks that are set back, forward and apart', async (t) => {
      const copy = await copyOf(confusedKey, DOCUMENTED_SLACK_MS);
      await writeWhileReading(place, copy, 'confused', [0, -2 * HOUR_MS, -2 * HOUR_MS, 500, -HOUR_MS, 0]);
      await copy.update();
      t.strictSame(copy.contents(), await sourceOf(engine, 'confused'));
    });

    await t.test('when the first change for long is made under a clock that was set back', async (t) => {
      const copy = await copyOf(quietKey, DOCUMENTED_SLACK_MS);
      await copy.update();
      const backoffice = openBackoffice(engine, { now: () => new Date(Date.now() - 2 * HOUR_MS) });
      await write(backoffice, 'quiet', 20, 1);
      await copy.update();
      t.strictSame(copy.contents(), await sourceOf(engine, 'quiet'));
    });
  });
}
