import t from 'tap';

import { byIdAscending, company, now, type Schemas, summaryOf } from './_company.ts';
import { bodies, operationOf, successOf } from './_contract.ts';

const { jobs, people, forms, submissions, customers, quotes, invoices } = company;
const everyRecord = [...jobs, ...people, ...forms, ...submissions, ...customers, ...quotes, ...invoices];
const ids = (records: { id: string }[]) => new Set(records.map(({ id }) => id));

t.test('the company is small, and has something of everything', async (t) => {
  t.same(
    [jobs, people, forms, submissions, customers, quotes, invoices].map((records) => records.length),
    [6, 4, 3, 5, 5, 8, 10],
  );
  t.equal(ids(everyRecord).size, everyRecord.length);
});

t.test('a job names a customer and people', async (t) => {
  for (const job of jobs) {
    t.ok(ids(customers).has(job.customerId), `${job.id} customerId`);
    for (const id of [...job.assignedTo, job.createdBy]) t.ok(ids(people).has(id), `${job.id} ${id}`);
  }
});

t.test('a submission names a form, its fields, a person, and perhaps a job', async (t) => {
  for (const { id, formId, formRevision, submittedBy, jobId, answers, files } of submissions) {
    const form = forms.find((candidate) => candidate.id === formId);
    t.ok(form && formRevision <= form.revision, `${id} formId`);
    t.ok(ids(people).has(submittedBy), `${id} submittedBy`);
    if (jobId !== undefined) t.ok(ids(jobs).has(jobId), `${id} jobId`);
    const fields = ids(form?.fields ?? []);
    for (const field of [...Object.keys(answers), ...Object.keys(files)])
      t.ok(fields.has(field), `${id} ${field}`);
  }
});

t.test('a quote or invoice names a customer, one of its sites, and jobs', async (t) => {
  for (const { id, customer, siteId, buyer, lines } of [...quotes, ...invoices]) {
    const record = customers.find((candidate) => candidate.id === customer.id);
    t.equal(customer.name, record?.name, id);
    t.equal(buyer.site?.id ?? null, siteId, id);
    if (siteId !== null) t.ok(ids(record?.sites ?? []).has(siteId), `${id} siteId`);
    for (const { jobId } of lines) if (jobId !== null) t.ok(ids(jobs).has(jobId), `${id} ${jobId}`);
  }
});

t.test('a quote names the version before it, and what was made from it', async (t) => {
  for (const { id, supersedesQuoteId, convertedJobId, convertedInvoiceId } of quotes) {
    if (supersedesQuoteId !== null) t.ok(ids(quotes).has(supersedesQuoteId), id);
    if (convertedJobId !== null) t.ok(ids(jobs).has(convertedJobId), id);
    if (convertedInvoiceId !== null) t.ok(ids(invoices).has(convertedInvoiceId), id);
  }
});

t.test('the buyer of a document is its customer as the customer is today', async (t) => {
  for (const { id, customer, buyer } of [...quotes, ...invoices]) {
    const record = customers.find((candidate) => candidate.id === customer.id);
    const { site, ...of } = buyer;
    t.match(record, of, id);
    if (site)
      t.match(
        record?.sites.find((candidate) => candidate.id === site.id),
        site,
        id,
      );
  }
});

t.test('ids sort in the order of creation, and those of quotes and invoices tell its time', async (t) => {
  for (const records of [jobs, customers, quotes, invoices, submissions]) {
    const byTime = [...records].sort((a, b) => a.createdAt.localeCompare(b.createdAt));
    t.same(
      byTime.map(({ id }) => id),
      records.map(({ id }) => id),
    );
  }
  for (const { id, createdAt } of [...quotes, ...invoices]) {
    t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    t.equal(new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString(), createdAt, id);
  }
});

t.test('no two changes of the company have the same time, and none is in the future', async (t) => {
  const stamps = [...jobs, ...forms, ...customers, ...quotes, ...invoices].map(({ updatedAt }) => updatedAt);
  const all = [...stamps, ...submissions.map(({ createdAt }) => createdAt)];
  t.equal(new Set(all).size, all.length);
  for (const stamp of all) t.ok(stamp <= now, stamp);
  for (const { id, createdAt, updatedAt } of [...jobs, ...customers, ...quotes, ...invoices])
    t.ok(createdAt <= updatedAt, id);
});

t.test('a record in a list is the record that is given by its id', async (t) => {
  const details = new Map<string, unknown>([
    ...jobs.map((job) => [job.id, job] as const),
    ...customers.map((customer) => [customer.id, customer] as const),
    ...invoices.map((invoice) => [invoice.id, summaryOf('InvoiceSummary', invoice)] as const),
    ...quotes.map((quote) => [quote.id, summaryOf('QuoteSummary', quote)] as const),
  ]);
  let compared = 0;
  for (const operationId of ['listJobs', 'listCustomers', 'listInvoices', 'listQuotes']) {
    for (const { value } of Object.values(successOf(operationOf(operationId)).examples ?? {})) {
      for (const record of (value as { data: { id: string }[] }).data) {
        t.same(record, details.get(record.id), record.id);
        compared += 1;
      }
    }
  }
  t.ok(compared > 60);
});

t.test('every record has an example of its own, identical wherever it is shown', async (t) => {
  for (const [operationId, records] of [
    ['getJob', jobs],
    ['getCustomer', customers],
  ] as const) {
    const shown = Object.values(successOf(operationOf(operationId)).examples ?? {});
    t.same(shown.map(({ value }) => (value as { data: Schemas['Job'] }).data).sort(byIdAscending), records);
  }
});

t.test('lists are in the order of their ids', async (t) => {
  for (const { name, example } of bodies()) {
    const { data } = example.value as { data?: { id: string }[] };
    if (!Array.isArray(data)) continue;
    t.same([...data].sort(byIdAscending), data, name);
  }
});

t.test('a job is completed when it has a time of completion', async (t) => {
  for (const { id, completed, completedAt, updatedAt, dates } of jobs) {
    t.equal(completed, completedAt !== null, id);
    if (completedAt !== null) t.ok(completedAt <= updatedAt, id);
    t.same([...dates].sort(), dates, id);
  }
});

t.test('a quote has one version that is not revised, and that is its latest', async (t) => {
  const groups = Map.groupBy(quotes, ({ quoteGroupId }) => quoteGroupId);
  t.ok([...groups.values()].some((versions) => versions.length === 3));
  for (const [group, unsorted] of groups) {
    const versions = unsorted.toSorted((a, b) => a.version - b.version);
    t.same(
      versions.map(({ version }) => version),
      versions.map((_, index) => index + 1),
      group,
    );
    t.same(
      versions.map(({ supersedesQuoteId }) => supersedesQuoteId),
      [null, ...versions.slice(0, -1).map(({ id }) => id)],
      group,
    );
    t.same(
      versions.slice(0, -1).filter(({ status }) => status !== 'revised'),
      [],
      group,
    );
    t.not(versions.at(-1)?.status, 'revised', group);
    t.equal(new Set(versions.map(({ number }) => number)).size, 1, group);
  }
});

t.test('a quote expires when its last day is over', async (t) => {
  const today = now.slice(0, 10);
  for (const { id, status, validUntil, sentDate, respondedAt } of quotes) {
    if (status === 'sent') t.ok(validUntil === null || validUntil >= today, id);
    if (status === 'expired') t.ok(validUntil !== null && validUntil < today, id);
    t.equal(sentDate === null, status === 'draft', id);
    t.equal(respondedAt !== null, status === 'accepted' || status === 'declined', id);
    if (respondedAt !== null) t.ok(validUntil !== null && respondedAt.slice(0, 10) <= validUntil, id);
  }
});

t.test('VAT numbers have valid check digits', async (t) => {
  const numbers = customers.flatMap(({ vatId }) => vatId ?? []);
  t.ok(numbers.length >= 3);
  for (const number of numbers) t.ok(number.startsWith('IE') ? isIrish(number) : isBritish(number), number);
});

function weighted(digits: string): number {
  return [...digits].reduce((sum, digit, index) => sum + Number(digit) * (8 - index), 0);
}

/** Seven digits, a check letter, and for newer numbers a second letter that counts nine times. */
function isIrish(number: string): boolean {
  const [, digits = '', check = '', second = 'W'] = /^IE(\d{7})([A-W])([A-I])?$/.exec(number) ?? [];
  const letters = 'WABCDEFGHIJKLMNOPQRSTUV';
  return letters[(weighted(digits) + 9 * letters.indexOf(second)) % 23] === check;
}

/** Nine digits; the weighted sum of the first seven and the last two together is a multiple of 97, or 55 short of one. */
function isBritish(number: string): boolean {
  const [, digits = '', check = ''] = /^GB(\d{7})(\d{2})$/.exec(number) ?? [];
  const sum = weighted(digits) + Number(check);
  return digits !== '' && (sum % 97 === 0 || (sum + 55) % 97 === 0);
}
