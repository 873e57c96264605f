import fc from 'fast-check';

import type { ResourceRecord } from '../../../src/contract/records.ts';
import type { Query } from './_crawl.ts';
import type { Question } from './_naive.ts';
import {
  customerOf,
  customerRef,
  formOf,
  invoiceOf,
  jobOf,
  personOf,
  quoteOf,
  submissionOf,
} from './_records.ts';

/** Ids that the contract allows and that order, escape and compare in every odd way it allows. */
const id = fc.oneof(
  fc.constantFrom('A', 'a', 'Z', 'z', '0', '9', 'a.', 'a-', 'a_', 'a:', 'aA', 'aa', 'a0', 'B:b', '1:2.3_4-5'),
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,5}$/),
  fc.stringMatching(/^[a-z][A-Z0-9._:-]{63}$/),
);
const uuid = fc.oneof(
  fc
    .integer({ min: 0, max: 40 })
    .map((number) => `019a0000-0000-7000-8000-${String(number).padStart(12, '0')}`),
  fc.uuid(),
);
/** Few, so that a filter meets several records. */
const customerId = fc.constantFrom('cus_1', 'CUS_1', 'cus_1.');
const formId = fc.constantFrom('form_1', 'form_2', 'Form_1');

/** Moments on both sides of whatever a comparison could get wrong: years, days, seconds, a leap second. */
const moments = [
  '0001-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2016-12-31T23:59:59.999Z',
  '2017-01-01T00:00:00.000Z',
  '2026-03-29T00:59:59.999Z',
  '2026-03-29T01:00:00.000Z',
  '2026-11-19T23:59:59.999Z',
  '2026-11-20T00:00:00.000Z',
  '2026-11-20T00:00:00.001Z',
  '2026-11-20T12:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
];
const moment = fc.constantFrom(...moments);
/** Days around those on which a company's calendar turns, see `presents`. */
const day = fc.constantFrom(
  '2024-02-28',
  '2024-02-29',
  '2024-03-01',
  '2026-03-27',
  '2026-03-28',
  '2026-03-29',
  '2026-03-30',
  '2026-10-24',
  '2026-10-25',
  '2026-10-26',
  '2026-12-31',
  '2027-01-01',
);

/** When a list is asked: around midnight, here and there, also on the days on which clocks change. */
export const present = fc.record({
  now: fc
    .constantFrom(
      '2024-02-29T00:00:00.000Z',
      '2026-03-28T23:59:59.999Z',
      '2026-03-29T00:00:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T22:59:59.999Z',
      '2026-03-29T23:00:00.000Z',
      '2026-10-24T22:59:59.999Z',
      '2026-10-24T23:00:00.000Z',
      '2026-10-25T23:59:59.999Z',
      '2026-10-26T00:00:00.000Z',
      '2026-12-31T11:00:00.000Z',
      '2027-01-01T12:00:00.000Z',
    )
    .map((time) => new Date(time)),
  timeZone: fc.constantFrom(
    'Europe/Dublin',
    'Europe/London',
    'UTC',
    'America/New_York',
    'Pacific/Kiritimati',
    'Pacific/Pago_Pago',
    'Asia/Kathmandu',
  ),
});

const invoice = fc
  .record({
    id: uuid,
    kind: fc.constantFrom('invoice' as const, 'credit_note' as const, 'pro_forma' as const),
    issueDate: fc.option(day),
    customer: customerId.map(customerRef),
    updatedAt: moment,
  })
  .map(invoiceOf);

/** The versions of one quote. Only the last isn't revised. */
const quoteGroup = fc
  .record({
    quoteGroupId: uuid,
    ids: fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 3 }),
    status: fc.constantFrom(
      'draft' as const,
      'sent' as const,
      'sent' as const,
      'accepted' as const,
      'declined' as const,
    ),
    validUntil: fc.option(day),
    customer: customerId.map(customerRef),
    updatedAt: moment,
    // A text search for the status could stumble over these titles.
    title: fc.constantFrom('Heat pump', '","status":"sent","validUntil":"2020-01-01', 'Ünïcode \u{1f600} "'),
  })
  .map(({ ids, status, ...others }) =>
    ids.map((one, index) =>
      quoteOf({
        ...others,
        id: one,
        version: index + 1,
        status: index + 1 < ids.length ? 'revised' : status,
      }),
    ),
  );

/** A company's records: each id once in its list, each quote with one latest version. */
export const records: fc.Arbitrary<ResourceRecord[]> = fc
  .record({
    simple: fc.array(
      fc.oneof(
        fc.record({ id }).map(personOf),
        fc.record({ id, updatedAt: moment }).map(customerOf),
        fc.record({ id: fc.oneof(formId, id), updatedAt: moment }).map(formOf),
        fc.record({ id, updatedAt: moment }).map(jobOf),
        fc.record({ id, formId, createdAt: moment }).map(submissionOf),
        invoice,
        invoice,
        invoice,
      ),
      { maxLength: 100, size: 'max' },
    ),
    quotes: fc.uniqueArray(quoteGroup, {
      maxLength: 15,
      size: 'max',
      selector: (versions) => versions[0]?.resource === 'quotes' && versions[0].record.quoteGroupId,
    }),
  })
  .map(({ simple, quotes }) => {
    const forms = ['form_1', 'form_2', 'Form_1'].map((one) => formOf({ id: one }));
    const each = [...forms, ...simple, ...quotes.flat()];
    return [...new Map(each.map((one) => [`${one.resource} ${one.record.id}`, one])).values()];
  });

/** A moment as clients write it: with an offset, in lower case, with a fraction, a little earlier or later. */
const writtenTime = fc
  .record({
    time: moment.filter((time) => !/^(0001|9999)/.test(time)),
    shiftMs: fc.constantFrom(0, 0, 0, -1, 1, 1000),
    offset: fc.constantFrom('Z', 'z', '+00:00', '-00:00', '+01:00', '-05:30', '+14:00', '-12:00'),
    finer: fc.constantFrom('', '', '000', '001', '999999'),
    isLowerCase: fc.boolean(),
  })
  .map(({ time, shiftMs, offset, finer, isLowerCase }) => {
    const minutes = offset.length === 1 ? 0 : Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4));
    const shifted = Date.parse(time) + shiftMs + (offset.startsWith('-') ? -minutes : minutes) * 60_000;
    const local = new Date(shifted).toISOString().slice(0, -1) + finer;
    return (isLowerCase ? local.replace('T', 't') : local) + offset;
  });
const updatedSince = fc.oneof(
  { weight: 4, arbitrary: writtenTime },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00+14:00',
      '9999-12-31T23:59:59.999Z',
      '9999-12-31T23:59:59.999-01:00',
      '2016-12-31T23:59:60Z',
      '2017-01-01T00:59:60+01:00',
      '2016-12-31T23:59:60.5Z',
      '2016-12-31T23:59:59.999000001Z',
      '2016-12-31T23:59:59.9990Z',
    ),
  },
);

const since = { updatedSince };
const filters: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<string>>>>> = {
  'api/v1/people': {},
  'api/v1/jobs': since,
  'api/v1/forms': since,
  'api/v1/customers': since,
  'api/v1/forms/form_1/submissions': since,
  'api/v1/forms/Form_1/submissions': since,
  'api/v1/invoices': {
    kind: fc.constantFrom('invoice', 'credit_note', 'pro_forma'),
    status: fc.constantFrom('issued', 'draft', 'all'),
    customer: customerId,
    issuedFrom: day,
    issuedTo: day,
    updatedSince,
  },
  'api/v1/quotes': {
    status: fc.constantFrom('draft', 'sent', 'accepted', 'declined', 'revised', 'expired'),
    customer: customerId,
    versions: fc.constantFrom('latest', 'all'),
    updatedSince,
  },
};

/** A question for any list, with any of its filters; the lists with most filters are asked most. */
export const question: fc.Arbitrary<Question> = fc
  .constantFrom(
    ...Object.keys(filters),
    ...Array.from({ length: 4 }, () => ['api/v1/invoices', 'api/v1/quotes']).flat(),
  )
  .chain((path) =>
    fc.record(filters[path] ?? {}, { requiredKeys: [] }).map((query) => ({
      path,
      query: query as Query,
    })),
  );
