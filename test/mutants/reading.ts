import type { Mutant } from './_mutant.ts';

const quoteExpiry = ['test/server/api/quote-expiry.test.ts'];
const exported = ['test/client/commands/export.test.ts'];

/** What is read: lists, cursors, ETags, tables for spreadsheets, copies, and the portal's sums. */
export const reading: readonly Mutant[] = [
  {
    fault: 'the ETag of a page leaves out its cursor',
    file: 'src/server/api/pages.ts',
    from: ", nextCursor ?? 'end'],",
    to: '],',
    tests: ['test/server/api/etags.test.ts', 'test/server/api/cursors.test.ts'],
  },
  {
    fault: 'a cursor of one filter goes on in the list of another',
    file: 'src/server/api/pages.ts',
    from: 'names.map((name) => `${name}=${filters[name]}`)',
    to: 'names',
    tests: ['test/server/api/cursors.test.ts'],
  },
  {
    fault: 'a page that was compressed is sent again though nothing has changed',
    file: 'src/server/api/answer.ts',
    from: 'tagsOf(digest, codingNames))) {',
    to: 'tagsOf(digest, []))) {',
    tests: ['test/server/api/answer.test.ts'],
  },
  {
    fault: 'updatedSince leaves out what changed at that very moment',
    file: 'src/server/store/lists/lists.ts',
    from: 'sql`${refer(name)} >= ${from}`',
    to: 'sql`${refer(name)} > ${from}`',
    tests: ['test/server/store/lists/lists.test.ts'],
  },
  {
    fault: 'a list shows the record of another company that has the same id',
    file: 'src/server/store/lists/lists.ts',
    from: 'ON record.company = ${company} AND record.id = wanted.id',
    to: 'ON record.id = wanted.id',
    tests: ['test/server/store/lists/lists.test.ts', 'test/server/store/by-company.test.ts'],
  },
  {
    fault: 'a quote reads expired on its last day',
    file: 'src/server/store/records/quotes.ts',
    from: 'validUntil === undefined || validUntil >= today',
    to: 'validUntil === undefined || validUntil > today',
    tests: quoteExpiry,
  },
  {
    fault: 'the list of sent quotes has those that expired yesterday',
    file: 'src/server/store/records/quotes.ts',
    from: "{ column: 'valid_until', from: today }",
    to: "{ column: 'valid_until', from: dayBefore(today) }",
    tests: quoteExpiry,
  },
  {
    fault: 'a quote keeps its ETag when it expires',
    file: 'src/server/store/records/quotes.ts',
    from: 'digest: `${digest}-expired`',
    to: 'digest',
    tests: [...quoteExpiry, 'test/server/api/etags.test.ts'],
  },
  {
    fault: 'an invoice is overdue on the day on which it is due',
    file: 'src/server/features/documents/overdue.ts',
    from: 'due_date < ${today}',
    to: 'due_date <= ${today}',
    tests: ['test/server/features/overview/overview-page.test.ts'],
  },
  {
    fault: 'a week begins on Sunday',
    file: 'src/server/features/overview/money.ts',
    from: '+ 6) % 7',
    to: '+ 7) % 7',
    tests: ['test/server/features/overview/overview-page.test.ts'],
  },
  {
    fault: 'an amount in yen is searched as if yen had cents',
    file: 'src/server/features/documents/searched-parts.ts',
    from: 'fraction.padEnd(digits',
    to: 'fraction.padEnd(2',
    tests: ['test/server/features/documents/document-search.test.ts'],
  },
  {
    fault: 'receivables are a day older than they are',
    file: 'src/server/features/documents/receivables.ts',
    from: 'WHEN due_date < ${day}',
    to: 'WHEN due_date <= ${day}',
    tests: [
      'test/server/features/documents/documents-page.test.ts',
      'test/server/features/documents/document-search.test.ts',
    ],
  },
  {
    fault: "the day of receivables is that of UTC, and not of the company's time zone",
    file: 'src/server/features/documents/receivables-page.ts',
    from: 'companyDay(company.timeZone, now)',
    to: "companyDay('UTC', now)",
    tests: ['test/server/features/documents/days.test.ts'],
  },
  {
    fault: 'a formula in wide letters runs in a spreadsheet',
    file: 'src/tables/csv.ts',
    from: "first.normalize('NFKC')",
    to: 'first',
    tests: ['test/tables/csv.test.ts'],
  },
  {
    fault: 'the amounts of a document stand in the row of each of its lines',
    file: 'src/client/commands/exported-records.ts',
    from: '...(index === 0 ? document : later), line',
    to: '...document, line',
    tests: exported,
  },
  {
    fault: 'the day of an export begins in UTC, and not in the zone that is named',
    file: 'src/client/commands/exported-records.ts',
    from: 'companyInstant(zone, `${since}T00:00`)',
    to: "companyInstant('UTC', `${since}T00:00`)",
    tests: exported,
  },
  {
    fault: 'a copy misses what changes while its later pages are read',
    file: 'src/client/sync/changes.ts',
    from: 'state.pass?.startedAt ?? date?.toISOString()',
    to: 'date?.toISOString()',
    tests: ['test/client/changes.test.ts'],
  },
  {
    fault: 'a log line has what a client puts into an address',
    file: 'src/server/server.ts',
    from: 'path: pathOf(exchange),',
    to: 'path: pathOf(exchange) ?? req.originalUrl,',
    tests: ['test/server/api/secrecy.test.ts'],
  },
];
