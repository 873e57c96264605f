import { deflateSync } from 'node:zlib';

import { getCompany } from '../../../src/server/store/records/companies.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { getNumbering } from '../../../src/server/backoffice/numbering.ts';
import type { Change } from '../../../src/contract/feed.ts';
import { STORY_NOW } from '../../_server.ts';
import { file, header } from '../invoice-pdf/_pictures.ts';
import { onEachEngine, refusalOf, tablesChangedBy } from './_backoffice.ts';
import { customerSave } from './_changes.ts';

const line = {
  description: 'Work',
  quantity: '1',
  unitPriceMinor: 10_000,
  vatCategory: 'S',
  vatRateBasisPoints: 2300,
} as const;
const supplier = {
  legalName: 'Brook Limited',
  addressLines: ['4 Dock Road'],
  countryCode: 'IE',
  vatId: 'IE6388047V',
};

const LINK = '/with/paymentLink';

/** All black. */
const picture = file(header(16, 16), ['IDAT', deflateSync(Buffer.alloc(16 * 49))], ['IEND', Buffer.alloc(0)]);

onEachEngine('a company comes in from nothing to its first invoice', async (t, { engine, backoffice }) => {
  let count = 0;
  const make = async (change: string, given: object) => {
    // The contract checks it.
    const sent = { id: `c${(count += 1)}`, company: 'brook', change, with: given } as Change;
    const first = await applyChange(backoffice, sent);
    const again = await tablesChangedBy(engine, async () => {
      t.equal((await applyChange(backoffice, sent)).status, 'skipped', change);
    });
    t.strictSame(again, []);
    return first;
  };
  t.strictSame(await make('company.save', { name: 'Brook' }), { status: 'applied', record: null });
  const created = await getCompany(engine, 'brook');
  const off = { apiEnabled: false, invoicingEnabled: false, subscriptionActive: true };
  t.match(created, {
    id: 'brook',
    name: 'Brook',
    currency: 'EUR',
    ...off,
    createdAt: STORY_NOW.toISOString(),
  });
  await make('company.save', { ...supplier, currency: 'GBP' });
  await make('company.save', { currency: 'EUR', phone: '+353 1 555 0100' });
  const profile = { ...supplier, phone: '+353 1 555 0100' };
  t.strictSame(
    await getCompany(engine, 'brook'),
    { ...created, currency: 'EUR', profile },
    'what is not given stays',
  );
  const paid = {
    paymentLink: 'https://pay.example.com/{number}',
    latePaymentTerms: 'Interest.',
    pageSize: 'Letter',
  };
  await make('company.save', paid);
  t.strictSame((await getCompany(engine, 'brook')).profile, { ...profile, ...paid });
  await make('company.save', { paymentLink: null, latePaymentTerms: null, pageSize: 'A4' });
  t.strictSame(
    (await getCompany(engine, 'brook')).profile,
    { ...profile, pageSize: 'A4' },
    'null takes away',
  );
  await make('company.switch', { api: true, invoicing: true, modules: ['invoices', 'customers'] });
  await make('company.switch', { subscription: false });
  const on = {
    apiEnabled: true,
    invoicingEnabled: true,
    subscriptionActive: false,
    modules: ['invoices', 'customers'],
  };
  t.match(await getCompany(engine, 'brook'), on);
  await make('logo.set', { logo: picture });
  t.match((await getCompany(engine, 'brook')).profile.logo, /^data:image\/png;base64,/);
  await make('numbering.set', { kind: 'invoice', format: 'B{number:3}', last: 41 });
  await make('customer.save', customerSave({ id: 'cus_1' }).with);
  const id = '019a0000-0000-7000-8000-000000000001';
  await make('invoice.draft', { id, kind: 'invoice', customerId: 'cus_1', lines: [line] });
  const issued = await make('invoice.issue', { id });
  t.match(JSON.parse(issued.record ?? ''), { number: 'B042' });
  await make('logo.set', { logo: null });
  t.notOk('logo' in (await getCompany(engine, 'brook')).profile);
  t.match(await getNumbering(engine, 'brook', STORY_NOW), [{ kind: 'invoice', next: 'B043' }]);
});

onEachEngine(
  'what a company can not be is refused by its place, with nothing changed',
  async (t, { openCompany, backoffice, engine }) => {
    const { id } = await openCompany();
    const wrong: [company: string, change: string, given: object, path: string, message: RegExp][] = [
      ['Brook', 'company.save', {}, '/company', /must be 1 to 40 lower-case letters/],
      ['b'.repeat(41), 'company.save', {}, '/company', /must be 1 to 40 lower-case letters/],
      ['brook', 'company.save', { name: ' ' }, '/with/name', /must have 1 to 200 characters/],
      ['brook', 'company.save', { timeZone: 'Europe/Cork' }, '/with/timeZone', /not an IANA time zone/],
      ['brook', 'company.save', { currency: 'XXQ' }, '/with/currency', /not an ISO 4217 currency/],
      ['brook', 'company.save', { vatId: 'IE1234567A' }, '/with/vatId', /VAT number/],
      [
        'brook',
        'company.save',
        { bankAccountName: 'é'.repeat(71) },
        '/with/bankAccountName',
        /71 characters/,
      ],
      [
        'brook',
        'company.save',
        { iban: 'IE30 AIBK 9311 5212 3456 78' },
        '/with/iban',
        /check digits are wrong/,
      ],
      ['brook', 'company.save', { iban: 'IE29AIBK' }, '/with/iban', /is not an IBAN/],
      ['brook', 'company.save', { bic: 'IRISH' }, '/with/bic', /is not a BIC/],
      ['brook', 'company.save', { pageSize: 'A5' }, '/with/pageSize', /must be/],
      ['brook', 'company.save', { paymentLink: 'http://pay.example.com' }, LINK, /is not an https address/],
      ['brook', 'company.save', { paymentLink: 'javascript:alert(1)' }, LINK, /is not an https address/],
      ['brook', 'company.save', { paymentLink: 'https://' }, LINK, /is not an https address/],
      ['brook', 'company.save', { paymentLink: 'https://a@b.example' }, LINK, /names a user/],
      ['brook', 'company.save', { paymentLink: 'https://b.example/{id}' }, LINK, /another place than/],
      ['brook', 'company.save', { paymentLink: 'https://b.example/ x' }, LINK, /has a space/],
      ['brook', 'company.save', { paymentLink: 'https://{number}.example' }, LINK, /a place in its host/],
      ['brook', 'company.save', { latePaymentTerms: '' }, '/with/latePaymentTerms', /fewer than 1/],
      ['brook', 'company.save', { apiEnabled: true }, '/with/apiEnabled', /has no member/],
      ['brook', 'company.switch', { api: true }, '/company', /There is no company/],
      [id, 'company.switch', {}, '/with', /fewer than 1/],
      [id, 'company.switch', { modules: ['boats'] }, '/with/modules/0', /must be/],
      [id, 'logo.set', { logo: 'data:image/svg+xml;base64,AAAA' }, '/with/logo', /must match pattern/],
      [
        id,
        'logo.set',
        { logo: 'data:image/png;base64,AAAA' },
        '/with/logo',
        /^Documents can't show the logo: .+\.$/,
      ],
      [id, 'numbering.set', { kind: 'invoice' }, '/with', /fewer than 2/],
      [id, 'numbering.set', { kind: 'receipt', last: 1 }, '/with/kind', /must be/],
      [id, 'numbering.set', { kind: 'quote', format: 'Q' }, '/with/format', /must contain \{number\}/],
      [id, 'numbering.set', { kind: 'quote', last: 1e9 }, '/with/last', /must be <= 999999999/],
    ];
    for (const [company, change, given, path, message] of wrong) {
      const { code, ...refusal } = await refusalOf(backoffice, { company, change, with: given });
      t.match(refusal, { path, message }, `${change} ${JSON.stringify(given)}`);
      t.equal(code, path === '/company' && change !== 'company.save' ? 'unknown_company' : 'invalid_change');
    }
    const saves = [1, 2, 3].map(async (last) =>
      applyChange(backoffice, {
        id: 'same',
        company: 'at-once',
        change: 'company.save',
        with: { name: `${last}` },
      }),
    );
    const outcomes = (await Promise.allSettled(saves)).map(({ status }) => status);
    t.strictSame(
      outcomes.sort(),
      ['fulfilled', 'rejected', 'rejected'],
      'of three that add it at once one does',
    );
    t.match(await engine.run("SELECT COUNT(*) AS count FROM company_clocks WHERE company = 'at-once'"), [
      { count: /1/ },
    ]);
  },
);
