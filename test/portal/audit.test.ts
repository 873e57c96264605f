import t from 'tap';

import { changePassword } from '../../src/access/administrators.ts';
import { createSignInLimits } from '../../src/access/sign-in-limits.ts';
import { listAuditRows, recordDeed } from '../../src/store/audit.ts';
import type { Engine } from '../../src/store/engine.ts';
import { engineNames, STORY_NOW } from '../_server.ts';
import { addAdministrator, COMPANY, PASSWORD, startPortal } from './_portal.ts';

const DAY_MS = 86_400_000;

/** Records so many deeds, one a minute. */
async function recordMany(engine: Engine, count: number, startMs = STORY_NOW.getTime()): Promise<void> {
  await engine.transaction(async (transaction) => {
    for (let index = 0; index < count; index += 1) {
      await recordDeed(transaction, {
        company: COMPANY,
        by: { id: 'adm_x', name: 'Niamh' },
        action: 'key.created',
        subject: `key-${index}`,
        details: { name: `Export ${index}` },
        now: new Date(startMs + index * 60_000),
      });
    }
  });
}

for (const name of engineNames) {
  t.test(`${name}: the trail tells who did what, the newest first, and goes on page by page`, async (t) => {
    const portal = await startPortal(t, name);
    await recordMany(portal.engine, 120);
    const visitor = await portal.signedIn();
    await visitor.visit('/portal/audit?action=key.created');
    const seen: number[] = [];
    for (let page = 1; page <= 4; page += 1) {
      const found = [...visitor.shown.matchAll(/name: Export (\d+)/g)].map(([, index]) => Number(index));
      seen.push(...found);
      const [, older] = /<a href="([^"]*)" rel="next">/.exec(visitor.shown) ?? [];
      t.equal(older === undefined, page === 3, `page ${page}`);
      if (older === undefined) break;
      await visitor.visit(older.replaceAll('&amp;', '&'));
    }
    t.strictSame(
      seen,
      Array.from({ length: 120 }, (_value, index) => 119 - index),
      'each deed once',
    );
  });

  t.test(`${name}: it is filtered by deed and by administrator`, async (t) => {
    const portal = await startPortal(t, name);
    const { id } = await addAdministrator(portal.engine, { email: 'conor@brennan.example', name: 'Conor' });
    const visitor = await portal.signedIn();
    await visitor.visit(`/portal/audit?who=${id}`);
    const rows = (shown: string) => [...shown.matchAll(/<time/g)].length;
    t.equal(rows(visitor.shown), 2, 'Conor accepted and was signed in');
    await visitor.visit(`/portal/audit?who=${id}&action=invitation.accepted`);
    t.equal(rows(visitor.shown), 1);
    t.match(visitor.shown, /<option value="invitation.accepted" selected>/);
    await visitor.visit('/portal/audit?action=key.revoked');
    t.match(visitor.text, /Nothing is recorded here/);
    for (const nonsense of ['action=nonsense', 'before=nonsense', 'who=nonsense&before=%ff'])
      t.equal((await visitor.visit(`/portal/audit?${nonsense}`)).statusCode, 200, nonsense);
    t.equal((await visitor.visit('/portal/audit?before=%00')).statusCode, 400, 'what no database stores');
  });

  t.test(`${name}: what is older than two years is removed, a little with each new deed`, async (t) => {
    const portal = await startPortal(t, name);
    const { engine } = portal;
    // Ids are of the time at which they are made, so the old ones are made first.
    await engine.run('DELETE FROM audit_entries');
    await recordMany(engine, 50, STORY_NOW.getTime() - 731 * DAY_MS);
    const count = async () => (await listAuditRows(engine, COMPANY, { limit: 100 })).length;
    t.equal(await count(), 50);
    await recordMany(engine, 1);
    t.equal(await count(), 31);
    await recordMany(engine, 2);
    t.equal(await count(), 3, 'and nothing else');
  });
}

t.test('a deed that fails leaves no line', async (t) => {
  const portal = await startPortal(t);
  const change = {
    administrator: portal.administrator,
    session: 'none',
    address: '127.0.0.1',
    present: PASSWORD,
    next: 'granite lanterns drift north',
    now: STORY_NOW,
  };
  const limits = createSignInLimits(portal.engine);
  const before = await listAuditRows(portal.engine, COMPANY, { limit: 100 });
  await t.rejects(changePassword(portal.engine, limits, { ...change, present: 'wrong' }));
  await t.rejects(changePassword(portal.engine, limits, { ...change, next: 'short' }));
  t.strictSame(await listAuditRows(portal.engine, COMPANY, { limit: 100 }), before);
  await changePassword(portal.engine, limits, change);
  const [newest] = await listAuditRows(portal.engine, COMPANY, { limit: 1 });
  t.match(newest, { action: 'administrator.changed_password', administratorName: 'Aoife Brennan' });
});
