import { changePassword } from '../../../../src/server/features/sign-in/sign-in.ts';
import { createSignInLimits } from '../../../../src/server/access/sign-in-limits.ts';
import {
  forgetOldEntries,
  listAuditRows,
  recordEntry,
} from '../../../../src/server/store/accounts/audit-trail.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { until } from '../../../_command.ts';
import { STORY_NOW } from '../../../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  NEW_PASSWORD,
  onEachEngine,
  onSqlite,
  PASSWORD,
  signedInAs,
} from '../../portal/_portal.ts';

const DAY_MS = 86_400_000;

/** Records so many entries, one a minute. */
async function recordMany(engine: Engine, count: number, startMs = STORY_NOW.getTime()): Promise<void> {
  await engine.transaction(async (transaction) => {
    for (let index = 0; index < count; index += 1) {
      await recordEntry(transaction, {
        company: COMPANY,
        by: { id: 'adm_x', name: 'Niamh', address: '192.0.2.7', client: 'Test' },
        action: 'key.created',
        subject: `key-${index}`,
        details: { name: `Export ${index}` },
        now: new Date(startMs + index * 60_000),
      });
    }
  });
}

onSqlite('the trail is told from the newest on, page by page', async (t, portal) => {
  await recordMany(portal.engine, 120);
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/audit?action=key.created');
  const seen: number[] = [];
  for (let page = 1; page <= 3; page += 1) {
    seen.push(...[...visitor.shown.matchAll(/name: Export (\d+)/g)].map(([, index]) => Number(index)));
    t.equal(await visitor.turnPage(), page < 3, `page ${page}`);
  }
  t.strictSame(
    seen,
    Array.from({ length: 120 }, (_value, index) => 119 - index),
    'each entry once',
  );
});

onEachEngine('it is filtered by action and by administrator', async (t, portal) => {
  const { id } = await addAdministrator(portal.engine, COLLEAGUE);
  await portal.engine.transaction((transaction) =>
    recordEntry(transaction, {
      company: COMPANY,
      by: { id, name: 'Conor', address: '192.0.2.7', client: 'Test' },
      action: 'invitation.accepted',
      now: STORY_NOW,
    }),
  );
  const visitor = await portal.signedIn();
  await visitor.visit(`/portal/audit?who=${id}`);
  const rows = (shown: string) => [...shown.matchAll(/<time/g)].length;
  t.equal(rows(visitor.shown), 2, 'Conor was signed in and accepted');
  await visitor.visit(`/portal/audit?who=${id}&action=invitation.accepted`);
  t.equal(rows(visitor.shown), 1);
  t.match(visitor.shown, /<option value="invitation.accepted" selected>/);
  t.match(await visitor.read('/portal/audit?action=key.revoked'), /No actions/);
  t.equal((await visitor.visit('/portal/audit?action=nonsense')).statusCode, 422);
  t.match(visitor.text, /“nonsense” isn’t one of these. .* No actions/);
  for (const nonsense of ['before=nonsense', 'who=nonsense&before=%ff'])
    t.equal((await visitor.visit(`/portal/audit?${nonsense}`)).statusCode, 200, nonsense);
  t.equal((await visitor.visit('/portal/audit?before=%00')).statusCode, 400, 'what no database stores');
});

onEachEngine('it is filtered by day, and downloaded', async (t, portal) => {
  const { engine } = portal;
  await engine.run('DELETE FROM audit_entries');
  await engine.run(`UPDATE companies SET time_zone = 'Pacific/Auckland' WHERE id = '${COMPANY}'`);
  const details = { name: '=2+3', scopes: 'jobs:read quotes:read', 'last day': '2027-01-31' };
  // The day of Auckland begins at 11:00 UTC.
  for (const [index, minute] of ['19T10:59', '19T11:00', '20T10:59', '20T11:00'].entries())
    await engine.transaction((transaction) =>
      recordEntry(transaction, {
        company: COMPANY,
        by: 'operator',
        action: index === 0 ? 'key.revoked' : 'key.changed',
        subject: `key-${index}`,
        details: { ...details, 'key id': `key-${index}` },
        now: new Date(`2026-11-${minute}:00.000Z`),
      }),
    );
  const visitor = await portal.signedIn();
  const found = async (query: string) => {
    await visitor.visit(`/portal/audit?${query}`);
    return [...visitor.text.matchAll(/key id: key-(\d)/g)].map(([, index]) => Number(index));
  };
  t.strictSame(await found('from=2026-11-20&to=2026-11-20'), [2, 1]);
  t.match(visitor.text, /name: =2\+3 scopes: jobs:read, quotes:read last day: 31 Jan 2027/);
  t.strictSame(await found('from=&to=2026-11-20'), [2, 1, 0]);
  t.strictSame(await found('from=2026-11-20&action=key.changed'), [3, 2, 1]);
  t.strictSame(await found('from=2026-11-22&to=2026-11-20'), []);
  t.match(visitor.text, /The end must be after the start/);
  t.strictSame(await found('from=9999-12-31&to=9999-12-31'), [], 'the last day that there is');
  t.strictSame(await found('from=2026-02-30&to=tomorrow&format=csv'), []);
  t.match(visitor.text, /“2026-02-30” isn’t a date.*“tomorrow” isn’t a date/);
  await found('to=2026-11-20&action=key.changed');
  const [, link = ''] = /href="(\/portal\/audit\?[^"]*format=csv)"/.exec(visitor.shown) ?? [];
  const { body, headers } = await visitor.visit(link.replaceAll('&amp;', '&'));
  t.match(headers, { 'content-type': /^text\/csv/, 'content-disposition': /audit-trail\.csv/ });
  const [head, ...lines] = body.trimEnd().split('\r\n');
  t.equal(head, '"time","administrator","address","browser","action","details"');
  t.equal(lines.length, 2);
  t.match(
    lines[0],
    /^"2026-11-20T10:59:00\.000Z","Operator",,,"Changed an API key","name: =2\+3; scopes: jobs:read, /,
  );
  const rows = await Promise.all(['csv', 'xlsx'].map((as) => visitor.visit(`/portal/audit?format=${as}`)));
  t.strictSame(
    rows.map(({ statusCode }) => statusCode),
    [200, 200],
  );
});

onSqlite(
  'a download of very many entries is whole, or refused with the reason',
  async (t, { engine, signedIn }) => {
    await recordMany(engine, 1);
    const visitor = await signedIn();
    const multiply = (count: number) =>
      engine.run(`
      INSERT INTO audit_entries (company, id, at, administrator_name, action, details)
      WITH RECURSIVE made (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < ${count})
      SELECT company, substr(id, 1, 12) || '-' || n, at, administrator_name, action, details FROM audit_entries, made
      WHERE subject = 'key-0'`);
    await multiply(1_200);
    const linesOf = async () => (await visitor.visit('/portal/audit?action=key.created&format=csv')).body;
    t.equal((await linesOf()).split('\r\n').length, 1 + 1_201 + 1);
    await engine.run("DELETE FROM audit_entries WHERE subject IS NULL AND action = 'key.created'");
    await multiply(50_000);
    t.equal((await visitor.visit('/portal/audit?format=csv')).statusCode, 422);
    t.match(visitor.text, /up to 50,000 entries/);
  },
);

onEachEngine('what is older than two years is removed, a little at a time', async (t, portal) => {
  const { engine } = portal;
  // Ids are of the time at which they are made, so the old ones are made first.
  await engine.run('DELETE FROM audit_entries');
  await recordMany(engine, 50, STORY_NOW.getTime() - 731 * DAY_MS);
  const count = async () => (await listAuditRows(engine, COMPANY, { limit: 100 })).length;
  t.equal(await count(), 50);
  await recordMany(engine, 3);
  await forgetOldEntries(engine, STORY_NOW);
  t.equal(await count(), 33);
  for (let pass = 0; pass < 3; pass += 1) await forgetOldEntries(engine, STORY_NOW);
  t.equal(await count(), 3, 'and nothing else');
});

onSqlite(
  'sign-ins are recorded, and 20 failures a day of each account',
  { trustedProxies: 1 },
  async (t, portal) => {
    const { engine, administrator } = portal;
    await addAdministrator(engine, COLLEAGUE);
    await engine.run('DELETE FROM audit_entries');
    const guess = async (email: string, password: string, address: string) => {
      const visitor = portal.visitor();
      const headers = { 'x-forwarded-for': address, 'user-agent': 'Mozilla/5.0 (X11; Linux) Firefox/145.0' };
      await visitor.signIn(email, password, headers);
      return visitor;
    };
    const from = { address: '198.51.100.7', client: 'Mozilla/5.0 (X11; Linux) Firefox/145.0' };
    await guess(EMAIL, 'wrong', from.address);
    await guess('nobody@brennan.example', 'wrong', from.address);
    await until(async () => (await listAuditRows(engine, COMPANY, { limit: 10 })).length === 1);
    const visitor = await guess(EMAIL, PASSWORD, from.address);
    const of = { administrator: administrator.id, subject: administrator.id, ...from };
    t.match(await listAuditRows(engine, COMPANY, { limit: 10 }), [
      { action: 'administrator.signed_in', ...of },
      { action: 'administrator.sign_in_failed', ...of },
    ]);
    t.match(
      await visitor.read('/portal/audit'),
      /Aoife Brennan 198\.51\.100\.7 Firefox on Linux Failed to sign in: wrong password/,
    );

    const failed = { action: 'administrator.sign_in_failed', limit: 100 } as const;
    for (let sent = 0; sent < 30; sent += 1) await guess(EMAIL, 'wrong', `203.0.113.${sent}`);
    await guess(COLLEAGUE.email, 'wrong', '203.0.113.100');
    // Failures are recorded when the guesser has the answer.
    const failures = async () => (await listAuditRows(engine, COMPANY, failed)).length;
    await until(async () => (await failures()) === 21);
    const rows = await listAuditRows(engine, COMPANY, failed);
    t.equal(rows.filter(({ administrator: id }) => id === administrator.id).length, 20);
    t.strictSame(
      rows.flatMap(({ details }) => Object.values(details)),
      ['Later ones of this day are not recorded.'],
    );
    t.equal(rows.length, 21, 'another account has a count of its own');
    portal.setNow(new Date(STORY_NOW.getTime() + DAY_MS));
    await guess(EMAIL, 'wrong', '203.0.113.200');
    await until(async () => (await failures()) === 22);
    t.equal(await failures(), 22, 'and the next day begins anew');
  },
);

onSqlite('an action that fails leaves no entry but that of a wrong password', async (t, portal) => {
  const change = {
    administrator: portal.administrator,
    by: await signedInAs(portal.engine, portal.administrator),
    present: PASSWORD,
    next: NEW_PASSWORD,
    serviceName: 'Fieldledger',
    now: STORY_NOW,
  };
  const limits = createSignInLimits(portal.engine);
  const before = await listAuditRows(portal.engine, COMPANY, { limit: 100 });
  await t.rejects(changePassword(portal.engine, limits, { ...change, present: 'wrong' }));
  await t.rejects(changePassword(portal.engine, limits, { ...change, next: 'short' }));
  const [wrong, ...others] = await listAuditRows(portal.engine, COMPANY, { limit: 100 });
  t.match(wrong, { action: 'administrator.sign_in_failed', administratorName: 'Aoife Brennan' });
  t.strictSame(others, before);
  await changePassword(portal.engine, limits, change);
  const [newest] = await listAuditRows(portal.engine, COMPANY, { limit: 1 });
  t.match(newest, { action: 'administrator.changed_password', administratorName: 'Aoife Brennan' });
});
