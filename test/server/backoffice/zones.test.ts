import type { Change } from '../../../src/contract/feed.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { findChangeRecord } from '../../../src/server/backoffice/earlier-changes.ts';
import { getNumbering, setNumbering } from '../../../src/server/backoffice/numbering.ts';
import { onSqlite } from './_backoffice.ts';
import { invoiceImport, openImporter, quoteImport } from './_imports.ts';
import { irishCompany } from './_parties.ts';

/**
 * Moments around midnights of companies east and west of UTC, each with one that is a minute earlier: the beginnings of 5 October,
 * and the ends of 20 November and of the year.
 */
const zones = [
  ['Pacific/Auckland', '2026-10-04T11:00', '2026-10-04T10:59', '2026-11-20T11:00', '2026-12-31T11:00'],
  ['America/Los_Angeles', '2026-10-05T07:00', '2026-10-05T06:59', '2026-11-21T08:00', '2027-01-01T08:00'],
] as const;

for (const [timeZone, begin, dayBefore, lateNovember, newYear] of zones)
  onSqlite(
    `days of documents that come in or again, and of numbers, are those of ${timeZone}`,
    async (t, office) => {
      const { engine, backoffice, setNow } = office;
      const company = await openImporter(office, { company: { ...irishCompany, timeZone } });
      const minute = (time: string, off: number) => new Date(Date.parse(`${time}Z`) + off * 60_000);

      const { issuedAt } = await company.apply(invoiceImport({ issueDate: '2026-10-05' }));
      t.equal(issuedAt, `${begin}:00.000Z`, 'its day begins there');
      // A day next to the day of issue is taken, and not another one.
      for (const [issueDate, at, isTaken] of [
        ['2026-10-04', begin, true],
        ['2026-10-03', begin, false],
        ['2026-10-06', begin, true],
        ['2026-10-06', dayBefore, false],
      ] as const) {
        const change = invoiceImport({ number: `N ${issueDate} ${at}`, issueDate, issuedAt: `${at}:00Z` });
        if (isTaken) t.match(await company.apply(change), { issueDate });
        else t.match(await company.refusal(change), { path: '/with/issuedAt' });
      }
      const answered = { status: 'accepted', sentDate: '2026-10-05' } as const;
      const early = quoteImport({ ...answered, respondedAt: `${dayBefore}:00Z` });
      t.match(await company.refusal(early), { path: '/with/respondedAt' });
      t.match(await company.apply(quoteImport({ ...answered, respondedAt: `${begin}:00Z` })), answered);

      const sent = quoteImport({ number: 'AN-6', validUntil: '2026-11-20' });
      const change = { company: company.id, id: 'again', ...sent } as Change;
      setNow(minute(lateNovember, -1));
      await applyChange(backoffice, change);
      for (const [off, status] of [
        [-1, 'sent'],
        [0, 'expired'],
      ] as const) {
        setNow(minute(lateNovember, off));
        const again = await applyChange(backoffice, change);
        const told = await findChangeRecord(backoffice, company.id, 'again', minute(lateNovember, off));
        t.match(
          [again.status, String(again.record), String(told?.record)],
          ['skipped', `"${status}"`, `"${status}"`],
        );
      }

      const nextAt = async (off: number) =>
        (await getNumbering(engine, company.id, minute(newYear, off))).find(({ kind }) => kind === 'invoice')
          ?.next;
      t.strictSame([await nextAt(-1), await nextAt(0)], ['INV-2026-0001', 'INV-2027-0001']);
      await setNumbering(engine, company.id, { kind: 'invoice', last: 7, now: minute(newYear, 0) });
      t.strictSame([await nextAt(-1), await nextAt(0)], ['INV-2026-0001', 'INV-2027-0008']);
      await setNumbering(engine, company.id, { kind: 'invoice', last: 5, now: minute(newYear, -1) });
      t.strictSame([await nextAt(-1), await nextAt(0)], ['INV-2026-0006', 'INV-2027-0008']);
    },
  );
