import { setCompany } from '../../../../src/server/backoffice/companies.ts';
import type { Invoice } from '../../../../src/contract/records.ts';
import { renderRecord } from '../../../../src/contract/render.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { exampleRecords, putRecords } from '../../../_records.ts';
import { amountText } from '../../../../src/contract/currencies.ts';
import { openTotals } from '../../../../src/server/features/documents/overdue.ts';
import { openKeyUsage } from '../../../../src/server/features/usage/key-usage.ts';
import { STORY_NOW } from '../../../_server.ts';
import { addHistory } from '../webhooks/_history.ts';
import {
  addAdministrator,
  COMPANY,
  makeKey,
  onEachEngine,
  onSqlite,
  signedInAs,
  textOf,
} from '../../portal/_portal.ts';
import { addWebhook } from '../webhooks/_registered.ts';

const DAY_MS = 86_400_000;

onSqlite('the overview says what there is and how it does', async (t, portal) => {
  const { engine } = portal;
  const visitor = await portal.signedIn();
  t.match(
    await visitor.read('/portal'),
    /Overview Needs attention Set up your second factor , so that .*\. What to do first Your documents.*\. Invite a colleague/,
  );
  await engine.run("UPDATE administrators SET second_factor = 'sealed'");
  t.match(await visitor.read('/portal'), /Overview Nothing needs attention now\./);
  t.match(visitor.text, /Address of the API http:\/\/127\.0\.0\.1\/api\/v1 How it works The reference/);
  t.match(visitor.text, /API keys 0 of 20 Webhooks 0 of 10 Administrators 1 Data in the API/);
  await makeKey(engine);
  await addWebhook(engine, { events: ['job.created'], now: STORY_NOW });
  t.match(await visitor.read('/portal'), /API keys 1 of 20 Webhooks 1 of 10 Administrators 1/);
  t.match(
    visitor.text,
    /programs\. Done Make a first request with the key\. Register a webhook.* Done Send a test/,
  );
  t.match(visitor.text, /Overview Nothing needs attention now\./);
});

onSqlite('it begins with what needs somebody', async (t, portal) => {
  const { engine } = portal;
  const day = (count: number) => new Date(STORY_NOW.getTime() - count * DAY_MS);
  const gone = await addAdministrator(engine, { email: 'gone@brennan.example', name: 'Gone' });
  const by = await signedInAs(engine, gone);
  const { id: busy } = await makeKey(engine, 'Busy', { now: day(9) });
  await makeKey(engine, 'Forgotten', { now: day(8) });
  await makeKey(engine, 'Young', { now: day(6) });
  await makeKey(engine, 'Of Gone', { by });
  const ending = [await makeKey(engine, 'Ends in 7 days'), await makeKey(engine, 'Later')];
  for (const [index, { id }] of ending.entries())
    await engine.run(`UPDATE api_keys SET ends_at = '${day(-7 - index).toISOString()}' WHERE id = '${id}'`);
  await engine.run(`UPDATE administrators SET disabled_at = created_at WHERE id = '${gone.id}'`);
  await using usage = openKeyUsage(engine, { now: () => STORY_NOW, onError: () => undefined });
  for (let count = 0; count < 1_200; count += 1) usage.count(COMPANY, busy, true);
  await usage.flush();
  const failing = await addWebhook(engine, { url: 'https://down.example.com/in' });
  const fine = await addWebhook(engine, { url: 'https://fine.example.com/in' });
  const history = { company: COMPANY, until: STORY_NOW, count: 100 };
  await addHistory(engine, { ...history, webhooks: [failing.id], failedEvery: 2 });
  await addHistory(engine, { ...history, until: day(0.001), webhooks: [fine.id], failedEvery: 1_000 });
  await engine.run(`UPDATE deliveries SET state = 'delivered' WHERE webhook = '${fine.id}'`);
  await engine.run(`UPDATE deliveries SET attempt_count = 100 WHERE id = (
    SELECT MIN(id) FROM deliveries WHERE state = 'failed' AND webhook = '${failing.id}')`);
  const visitor = await portal.signedIn();
  const badge = async (id: string, failingSince: Date | null) => {
    const since = failingSince && failingSince.toISOString();
    await engine.run(
      `UPDATE webhooks SET failing_since = ${since === null ? 'NULL' : `'${since}'`} WHERE id = '${id}'`,
    );
    await visitor.visit(`/portal/webhooks/${id}`);
    return /State (\w+(?: failing)?)/.exec(visitor.text)?.[1];
  };
  t.equal(await badge(fine.id, STORY_NOW), 'Failing', 'whatever was delivered before');
  t.equal(
    await badge(fine.id, new Date(STORY_NOW.getTime() - 90 * 86_400_000)),
    'Working',
    'since then it has worked',
  );
  const idle = await addWebhook(engine, { url: 'https://idle.example.com/in' });
  t.equal(
    await badge(idle.id, new Date(STORY_NOW.getTime() - 30 * 3_600_000)),
    'Failing',
    'though nothing was sent for a day',
  );
  t.equal(await badge(idle.id, null), 'Quiet');
  const event = `('evt_held', '${COMPANY}', 'ping', '${day(3).toISOString()}', '{}')`;
  await engine.run(`INSERT INTO events (id, company, kind, created_at, data) VALUES ${event}`);
  await engine.run(`INSERT INTO deliveries (company, webhook, id, event, state, due_at)
    VALUES ('${COMPANY}', '${idle.id}', 'dlv_held', 'evt_held', 'waiting', '${day(3).toISOString()}')`);
  await engine.run(`UPDATE webhooks SET paused_at = '${day(1).toISOString()}' WHERE id = '${idle.id}'`);
  await visitor.visit('/portal');
  const needs = textOf(/<section class="notice problem"[\s\S]*?<\/section>/.exec(visitor.shown)?.[0] ?? '');
  t.match(needs, /The webhook to down\.example\.com Partly failing .* Last success: 20 Nov 2026, \d\d:\d\d/);
  t.match(needs, /No response within 10 seconds\. 49 deliveries to down\.example\.com failed or were held/);
  t.match(needs, /idle\.example\.com is paused: 1 delivery waits for it\. .*, the first at 17 Dec 2026/);
  t.match(needs, /Busy : 1,200 requests were refused by the rate limit in the last 24 hours\./);
  t.match(needs, / Forgotten : not used .* Of Gone : created by somebody who has left/);
  t.match(needs, /Ends in 7 days : the last day is within 7 days\./);
  t.notMatch(needs, /fine\.example|Young|Later/);
  await engine.run("DELETE FROM deliveries WHERE state = 'waiting'");
  t.match(await visitor.read('/portal'), /idle\.example\.com is paused, so nothing is sent to it\./);
  t.notMatch(visitor.text, /Nothing needs attention/);
  const { visitor: limited } = await portal.join({ scopes: ['jobs:read'] });
  t.match(await limited.read('/portal'), /Partly failing/);
  t.notMatch(limited.text, /deliveries to down/, 'whose data they may not see');
});

onEachEngine('what is overdue is added up by currency', { hasRecords: true }, async (t, portal) => {
  const { engine } = portal;
  const rows = await engine.run(
    "SELECT body, detail FROM invoices WHERE status = 'issued' AND kind = 'invoice'",
  );
  const invoices = rows.map(({ body, detail }) => ({
    ...(JSON.parse(String(body)) as { dueDate: string; currency: string }),
    ...(JSON.parse(String(detail)) as { amountDueMinor: number }),
  }));
  const dues = invoices.filter(({ amountDueMinor }) => amountDueMinor > 0).map(({ dueDate }) => dueDate);
  const [first = '', last = ''] = [dues.sort()[0], dues.at(-1)];
  t.ok(dues.length > 1);
  const countOn = async (day: string) =>
    (await openTotals(engine, COMPANY, day)).reduce((sum, { overdueCount }) => sum + overdueCount, 0);
  t.equal(await countOn(first), 0, 'not on the day itself');
  t.equal(await countOn(last), dues.filter((day) => day < last).length);
  t.equal(await countOn('2199-01-01'), dues.length);
  t.strictSame(await openTotals(engine, 'nobody', '2199-01-01'), []);
  portal.setNow(new Date('2027-06-01T12:00:00Z'));
  const visitor = await portal.signedIn();
  await visitor.visit('/portal');
  const [total] = await openTotals(engine, COMPANY, '2027-06-01');
  const due = invoices.filter(({ currency, amountDueMinor }) => currency === 'EUR' && amountDueMinor > 0);
  const sum = due.reduce((all, one) => all + one.amountDueMinor, 0);
  t.match(total, { currency: 'EUR', count: due.length, dueMinor: sum, overdueMinor: sum });
  t.equal(total?.oldest?.dueDate, due.map(({ dueDate }) => dueDate).sort()[0]);
  const sums = `EUR ${amountText(sum, 'EUR')} on ${due.length} invoices`;
  t.match(
    visitor.text,
    `${sums} ${sums.slice(4)} ${total?.oldest?.number} of ${total?.oldest?.customer}, due `,
  );
  t.match(visitor.shown, `href="/portal/documents/${total?.oldest?.id}"`);
  const { visitor: limited } = await portal.join({ scopes: ['jobs:read'] });
  t.notMatch(await limited.read('/portal'), /You are owed|Overdue|INV-|Issued and paid/i);
});

/** Invoices, each with the day of its issue and the days and amounts of its payments. */
async function putInvoices(
  engine: Engine,
  invoices: readonly [day: string, grossMinor: number, paid: Record<string, number>][],
): Promise<void> {
  const example = exampleRecords().find(({ record }) => 'payments' in record)?.record as Invoice;
  const rendered = invoices.map(([issueDate, grossMinor, paid], index) => {
    const payments = Object.entries(paid).map(([paidOn, amountMinor]) => ({
      ...{ id: `pay_${paidOn}`, paidOn, amountMinor, currency: 'EUR', method: 'card' },
    }));
    const id = `01b00000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    const own = { id, number: `INV-${index}`, issueDate, payments, updatedAt: STORY_NOW.toISOString() };
    return { ...example, ...own, totals: { ...example.totals, grossMinor } };
  });
  await engine.run('DELETE FROM documents');
  await engine.run('DELETE FROM invoices');
  await putRecords(
    engine,
    COMPANY,
    rendered.map((record) => renderRecord({ resource: 'invoices', record })),
  );
}

onEachEngine('a week is from Monday to Sunday', { hasRecords: true }, async (t, { engine, ...portal }) => {
  await putInvoices(engine, [
    ['2026-11-08', 100_000, { '2026-11-08': 300, '2026-11-09': 400 }],
    ['2026-11-09', 10_000, { '2026-11-15': 50, '2026-11-16': 6 }],
    ['2026-11-15', 2_000, {}],
    ['2026-11-16', 500, { '2026-11-19': 1 }],
  ]);
  await setCompany(engine, COMPANY, { timeZone: 'Pacific/Auckland' });
  const at = async (now: string) => {
    portal.setNow(new Date(now));
    const visitor = await portal.signedIn();
    return { text: await visitor.read('/portal'), shown: visitor.shown };
  };
  // Half an hour before the midnight of Sunday in Auckland, and half an hour after it.
  const sunday = await at('2026-11-22T10:30:00Z');
  t.match(
    sunday.text,
    /This week Last week Invoices EUR €5\.00 \(1\) €120\.00 \(2\) Payments EUR €0\.07 \(2\) €4\.50 \(2\)/,
  );
  t.match(sunday.shown, 'kind=invoice&amp;currency=EUR&amp;from=2026-11-09&amp;to=2026-11-15"');
  const monday = await at('2026-11-22T11:30:00Z');
  t.match(monday.text, /Invoices EUR — €5\.00 \(1\) Payments EUR — €0\.07 \(2\)/);
  t.match((await at('2026-12-21T00:00:00Z')).text, /Nothing issued or paid/);
});

onSqlite('payments are not added up where too many have changed', { hasRecords: true }, async (t, portal) => {
  await putInvoices(
    portal.engine,
    Array.from({ length: 2_001 }, () => ['2026-11-16', 5, { '2026-11-16': 1 }]),
  );
  const visitor = await portal.signedIn();
  t.match(await visitor.read('/portal'), /Invoices EUR €100\.05 \(2,001\) — Payments aren’t shown: too many/);
});

onSqlite('it says why something is off, in the words of what the API answers', async (t, portal) => {
  const visitor = await portal.signedIn();
  const seen = async (settings: Parameters<typeof setCompany>[2]) => {
    await setCompany(portal.engine, COMPANY, settings);
    await visitor.visit('/portal');
    return visitor.text;
  };
  t.match(
    await seen({}),
    /Data in the API Jobs On People On Forms On Invoices On Customers On Quotes On Your company/,
  );
  const { visitor: limited } = await portal.join({ scopes: ['jobs:read'] });
  t.match(
    await limited.read('/portal'),
    /Jobs On People On You have no access\. Ask an administrator who has it\. Forms/,
  );
  t.match(
    await seen({ invoicingEnabled: false }),
    /Invoices Off Invoicing is not switched on\. Customers On/,
  );
  t.match(await seen({ modules: ['jobs'] }), /Jobs On People Off Your plan does not include it\. Forms Off/);
  t.match(await seen({ apiEnabled: false }), /API access is off, so the API answers 403 api_not_enabled/);
  t.match(await seen({ subscriptionActive: false }), /answers 403 company_unavailable/);
  for (const page of ['keys', 'webhooks', 'usage'])
    t.match(
      await visitor.read(`/portal/${page}`),
      /The subscription is not active, so the API answers 403 company_unavailable/,
    );
});

onSqlite('keys and webhooks are found in the API section of People & access', async (t, portal) => {
  const visitor = await portal.signedIn();
  t.match(
    await visitor.read('/portal'),
    /Overview Documents Receivables Notices \(1\) People & access People Audit trail API API keys Webhooks Usage Overview/,
    'they stand in the navigation by the name that openapi.yaml gives',
  );
  const places: [path: string, heading: RegExp][] = [
    ['/portal/keys', /Usage People & access › API API keys A key lets/],
    ['/portal/keys/new', /People & access › API Create a key/],
    ['/portal/webhooks', /People & access › API Webhooks/],
    ['/portal/usage', /People & access › API Usage/],
    ['/portal/people', /Usage People & access People These people/],
    ['/portal/audit', /Usage People & access Audit trail/],
    ['/portal/documents', /Usage Documents/],
  ];
  for (const [path, heading] of places) {
    t.match(await visitor.read(path), heading, path);
  }
});
