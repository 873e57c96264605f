import t from 'tap';

import { companyInstant, companyLocal } from '../../../../src/contract/company-time.ts';
import { setCompany } from '../../../../src/server/backoffice/companies.ts';
import { invite } from '../../../../src/server/features/people/invitations.ts';
import { addHistory } from '../webhooks/_history.ts';
import { COMPANY, makeKey, onSqlite } from '../../portal/_portal.ts';
import { addWebhook } from '../webhooks/_registered.ts';

const PART_PAID = '01a15a0c-54c0-737e-abf7-cfe66f9292f6';
const HALF_AN_HOUR = 1_800_000;

/**
 * Zones east and west of UTC, the end there of 20 November 2026, the time there 30 days before half an hour later, and the
 * last day there of what ends with the year in UTC.
 */
const zones = [
  ['Pacific/Auckland', '2026-11-20T11:00:00.000Z', '2026-10-22T00:31', ['2027-01-01', '1 Jan 2027']],
  // The clocks there went back on 1 November.
  ['America/Los_Angeles', '2026-11-21T08:00:00.000Z', '2026-10-22T01:31', ['2026-12-31', '31 Dec 2026']],
] as const;

for (const [timeZone, midnight, firstOfHistory, [lastDay, lastDayText]] of zones) {
  const [before, after] = [-1, 1].map((sign) => new Date(Date.parse(midnight) + sign * HALF_AN_HOUR)) as [
    Date,
    Date,
  ];

  onSqlite(
    `a document is due until its company’s day is over (${timeZone})`,
    { hasRecords: true },
    async (t, portal) => {
      await setCompany(portal.engine, COMPANY, { timeZone });
      const days: string[] = [];
      portal.documents.prepareStatement = async (_found, day) => void days.push(day);
      const pages: [path: string, until: RegExp, since: RegExp][] = [
        [`documents/${PART_PAID}`, /Due 20 Nov 2026, part paid/, /Overdue since 21 Nov 2026, part paid/],
        ['documents?search=INV-2026-0003', /Due 20 Nov 2026/, /Overdue since 21 Nov 2026/],
        ['documents?state=overdue', /No documents found/, /INV-2026-0003/],
        ['receivables', /€596\.52 — — — — €596\.52/, /— €596\.52 — — — €596\.52/],
        // The last columns are the days since then, and the id.
        ['receivables?format=csv', new RegExp(`,0,"${PART_PAID}"`), new RegExp(`,1,"${PART_PAID}"`)],
        ['', /on 2 invoices — INV-2026-0003/, /on 2 invoices €596\.52 on 1 invoice INV-2026-0003/],
      ];
      for (const [now, isOver] of [
        [before, false],
        [after, true],
      ] as const) {
        portal.setNow(now);
        const visitor = await portal.signedIn();
        for (const [path, until, since] of pages)
          t.match(await visitor.read(`/portal/${path}`), isOver ? since : until, path);
        await visitor.visit(`/portal/documents/${PART_PAID}/statement`);
      }
      t.strictSame(days, ['2026-11-20', '2026-11-21'], 'a statement is of the company’s day');
    },
  );

  onSqlite(`days and times of pages are those of the company’s clocks (${timeZone})`, async (t, portal) => {
    const { engine } = portal;
    await setCompany(engine, COMPANY, { timeZone });
    const [ended, used] = [await makeKey(engine, 'Ended'), await makeKey(engine, 'Used')];
    await engine.run(`UPDATE api_keys SET ends_at = '${midnight}' WHERE id = '${ended.id}'`);
    for (const [now, id] of [
      [before, used.id],
      [after, ended.id],
    ] as const) {
      portal.setNow(now);
      portal.usage.count(COMPANY, id, false);
      await portal.usage.flush();
    }
    const { id } = await addWebhook(engine);
    // One half an hour before midnight, and one after, which fails.
    const until = new Date(after.getTime() + HALF_AN_HOUR);
    await addHistory(engine, {
      company: COMPANY,
      webhooks: [id],
      until,
      count: 2,
      days: 1 / 12,
      failedEvery: 2,
    });
    const sean = { company: COMPANY, email: 'sean@brennan.example', scopes: ['jobs:read'], mayInvite: false };
    await invite(engine, { ...sean, by: 'operator', now: after });
    const visitor = await portal.signedIn();
    const of = `webhooks/${id}`;
    const pages: [path: string, text: RegExp][] = [
      [
        'keys',
        /1 of 20 keys in use.* Used .* used 20 Nov 2026 .*Inactive keys .* ended 20 Nov 2026 .* 21 Nov 2026, 00:00 Past its last day/,
      ],
      ['usage', /21 Nov 2026 1 0 20 Nov 2026 1 0/],
      [of, /21 Nov 2026 0 1 20 Nov 2026 1 0/],
      [`${of}/deliveries`, /21 Nov 2026, 00:30 .*20 Nov 2026, 23:30/],
      [`${of}/deliveries?from=2026-11-21T00:00`, /^(?!.*20 Nov 2026, 23:30).*21 Nov 2026, 00:30/],
      [`${of}/deliveries?until=2026-11-21T00:00`, /^(?!.*21 Nov 2026, 00:30).*20 Nov 2026, 23:30/],
      [`${of}/recover?from=2026-11-21T00:00`, /1 delivery that failed/],
      [`${of}/recover?from=2026-11-20T00:00&until=2026-11-21T00:30`, /Nothing to send again/],
      ['people', /sean@brennan\.example .*24 Nov 2026, 00:30/],
      ['audit', /21 Nov 2026, 00:30/],
    ];
    for (const [path, text] of pages) t.match(await visitor.read(`/portal/${path}`), text, path);
    await visitor.visit(`/portal/${of}/deliveries?state=unsent`);
    t.match(visitor.shown, `name="from" value="${firstOfHistory}"`);
    await visitor.visit('/portal/people');
    const newcomer = { email: 'niamh@brennan.example', scopes: 'jobs:read' };
    t.match(await visitor.act('/portal/people/invite', newcomer), /until 24 Nov 2026, 00:30/);
    await makeKey(engine, 'Of a last day');
    await engine.run(`UPDATE api_keys SET ends_at = '2027-01-01T00:00:00.000Z' WHERE name = 'Of a last day'`);
    t.match(await visitor.read('/portal/keys'), `Until ${lastDayText}`);
    t.match(
      visitor.shown,
      new RegExp(`name="last-day"[^>]*value="${lastDay}"|value="${lastDay}"[^>]*name="last-day"`),
    );
  });
}

t.test('a local time is the moment at which the company’s clocks show it', async (t) => {
  const at = (zone: string, local: string) => companyInstant(zone, local)?.toISOString();
  t.equal(at('Europe/Dublin', '2026-11-20T12:00'), '2026-11-20T12:00:00.000Z');
  t.equal(at('Europe/Dublin', '2026-07-01T00:00'), '2026-06-30T23:00:00.000Z');
  t.equal(at('Europe/Dublin', '2026-10-25T01:30'), '2026-10-25T00:30:00.000Z', 'the earlier of two');
  t.equal(at('Europe/Dublin', '2026-03-29T01:30'), '2026-03-29T01:30:00.000Z', 'after a gap');
  t.equal(at('Asia/Kathmandu', '2026-11-20T00:00'), '2026-11-19T18:15:00.000Z');
  t.equal(at('America/St_Johns', '2026-11-20T00:00'), '2026-11-20T03:30:00.000Z');
  for (const wrong of ['2026-02-30T00:00', '2026-11-20', '2026-11-20T24:00', 'x', '', '2026-11-20T12:00Z'])
    t.equal(at('Europe/Dublin', wrong), undefined, wrong);
  t.equal(companyLocal('Europe/Dublin', new Date('2026-07-01T12:34:56.000Z')), '2026-07-01T13:34');
});
