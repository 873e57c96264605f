import { onSqlite } from './_portal.ts';

onSqlite('receivables are of the day in the company’s time zone', { hasRecords: true }, async (t, portal) => {
  await portal.engine.run("UPDATE companies SET time_zone = 'Pacific/Auckland'");
  // In Auckland the 22nd begins. The invoice was due on the 20th.
  for (const [now, daysOverdue] of [
    ['2026-11-21T10:59:59Z', 1],
    ['2026-11-21T11:00:00Z', 2],
  ] as const) {
    portal.setNow(new Date(now));
    const { body } = await (await portal.signedIn()).visit('/portal/receivables?format=csv');
    const [, days] = /^"INV-2026-0003",.*,(\d+),"[^"]*"\r$/m.exec(body) ?? [];
    t.equal(days, String(daysOverdue), now);
  }
});
