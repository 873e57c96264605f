import { deflateSync } from 'node:zlib';

import { getCompany } from '../../../src/server/store/records/companies.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { getNumbering } from '../../../src/server/backoffice/numbering.ts';
import type { Change } from '../../../src/contract/feed.ts';
import { STORY_NOW } from '../../_server.ts';
import { file, header } from '../invoice-pdf/_pictures.ts';
import { onEachEngine, refusalOf, tablesChangedBy } from './_backoffice.ts';
import { changeSchemas } from './_invalid-changes.ts';
import { customerSave } from './_changes.ts';
import { line } from './_documents.ts';
import { richProfile } from '../invoice-pdf/_rich-documents.ts';
import { irishProfile as supplier } from './_parties.ts';

/** All black. */
const picture = file(header(16, 16), ['IDAT', deflateSync(Buffer.alloc(16 * 49))], ['IEND', Buffer.alloc(0)]);

/** The members of the profile that a change may give. */
const membersOf = (name: string) => {
  const given = changeSchemas.get(name)?.properties?.['with']?.properties ?? {};
  return Object.keys(given).filter((member) => !['name', 'timeZone', 'currency'].includes(member));
};

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
  const createdAt = STORY_NOW.toISOString();
  t.match(created, { id: 'brook', name: 'Brook', currency: 'EUR', ...off, createdAt });
  await make('company.save', { ...supplier, currency: 'GBP' });
  await make('company.save', { currency: 'EUR', phone: '+353 1 555 0100' });
  const profile = { ...supplier, phone: '+353 1 555 0100' };
  const inEuro = { ...created, currency: 'EUR', profile };
  t.strictSame(await getCompany(engine, 'brook'), inEuro, 'what is not given stays');
  const [paymentLink, latePaymentTerms] = ['https://pay.example.com/{number}', 'Interest.'];
  const paid = { paymentLink, latePaymentTerms, pageSize: 'Letter' };
  await make('company.save', paid);
  t.strictSame((await getCompany(engine, 'brook')).profile, { ...profile, ...paid });
  const rest = {
    ...richProfile,
    ...{ website: 'https://brook.example', bankAccountName: 'Brook', iban: 'IE29AIBK93115212345678' },
    ...{ bic: 'AIBKIE2D', electronicAddress: { id: '5391234500004', scheme: '0088' } },
  };
  await make('company.save', rest);
  const { profile: whole } = await getCompany(engine, 'brook');
  t.strictSame(Object.keys(whole).sort(), membersOf('company.save').sort(), 'each member has a value');
  for (const member of membersOf('company.save')) {
    await make('company.save', { [member]: null });
    t.notOk(member in (await getCompany(engine, 'brook')).profile, `null takes ${member} away`);
  }
  await make('company.save', profile);
  await make('company.switch', { api: true, invoicing: true, modules: ['invoices', 'customers'] });
  await make('company.switch', { subscription: false });
  const on = { apiEnabled: true, invoicingEnabled: true, subscriptionActive: false };
  t.match(await getCompany(engine, 'brook'), { ...on, modules: ['invoices', 'customers'] });
  await make('logo.set', { logo: picture });
  t.match((await getCompany(engine, 'brook')).profile.logo, /^data:image\/png;base64,/);
  await make('numbering.set', { kind: 'invoice', format: 'B{number:3}', last: 41 });
  await make('customer.save', customerSave({ id: 'cus_1' }).with);
  const id = '019a0000-0000-7000-8000-000000000001';
  await make('invoice.draft', { id, kind: 'invoice', customerId: 'cus_1', lines: [line()] });
  const issued = await make('invoice.issue', { id });
  t.match(JSON.parse(issued.record ?? ''), { number: 'B042' });
  await make('logo.set', { logo: null });
  t.notOk('logo' in (await getCompany(engine, 'brook')).profile);
  t.match(await getNumbering(engine, 'brook', STORY_NOW), [{ kind: 'invoice', next: 'B043' }]);
});

/** What a company can't be, by its place and the rule. The first ones are of a company that isn't there yet. */
const saves: [place: string, message: RegExp, given: object][] = [
  ['name', /must have 1 to 200 characters/, { name: ' ' }],
  ['timeZone', /not an IANA time zone/, { timeZone: 'Europe/Cork' }],
  ['currency', /not an ISO 4217 currency/, { currency: 'XXQ' }],
  ['countryCode', /"UK".* ISO 3166-1/, { countryCode: 'UK' }],
  ['vatId', /VAT number/, { vatId: 'IE1234567A' }],
  ['bankAccountName', /71 characters/, { bankAccountName: 'é'.repeat(71) }],
  ['iban', /check digits are wrong/, { iban: 'IE30 AIBK 9311 5212 3456 78' }],
  ['iban', /is not an IBAN/, { iban: 'IE29AIBK' }],
  ['bic', /is not a BIC/, { bic: 'IRISH' }],
  ['pageSize', /must be/, { pageSize: 'A5' }],
  ['paymentLink', /is not an https address/, { paymentLink: 'http://pay.example.com' }],
  ['paymentLink', /is not an https address/, { paymentLink: 'javascript:alert(1)' }],
  ['paymentLink', /is not an https address/, { paymentLink: 'https://' }],
  ['paymentLink', /names a user/, { paymentLink: 'https://a@b.example' }],
  ['paymentLink', /another place than/, { paymentLink: 'https://b.example/{id}' }],
  ['paymentLink', /has a space/, { paymentLink: 'https://b.example/ x' }],
  ['paymentLink', /a place in its host/, { paymentLink: 'https://{number}.example' }],
  ['latePaymentTerms', /fewer than 1/, { latePaymentTerms: '' }],
  ['apiEnabled', /has no member/, { apiEnabled: true }],
];
const others: [change: string, place: string, message: RegExp, given: object][] = [
  ['company.switch', '', /fewer than 1/, {}],
  ['company.switch', '/modules/0', /must be/, { modules: ['boats'] }],
  [
    'logo.set',
    '/logo',
    /must be a PNG or JPEG picture as a data: URL/,
    { logo: 'data:image/svg+xml;base64,AAAA' },
  ],
  ['logo.set', '/logo', /^Documents can't show the logo: .+\.$/, { logo: 'data:image/png;base64,AAAA' }],
  ['numbering.set', '', /fewer than 2/, { kind: 'invoice' }],
  ['numbering.set', '/kind', /must be/, { kind: 'receipt', last: 1 }],
  ['numbering.set', '/format', /must contain \{number\}/, { kind: 'quote', format: 'Q' }],
  ['numbering.set', '/last', /must be <= 999999999/, { kind: 'quote', last: 1e9 }],
];

onEachEngine('what a company can not be is refused by its place, with nothing changed', async (t, office) => {
  const { backoffice, engine } = office;
  const { id } = await office.openCompany();
  const refused = async (code: string, path: string, message: RegExp, change: object) =>
    t.match(await refusalOf(backoffice, change), { code, path, message }, JSON.stringify(change));
  const save = { change: 'company.save', with: {} };
  for (const company of ['Brook', 'b'.repeat(41)])
    await refused('invalid_change', '/company', /must be 1 to 40 lower-case letters/, { company, ...save });
  for (const [place, message, given] of saves)
    await refused('invalid_change', `/with/${place}`, message, { company: 'brook', ...save, with: given });
  const switched = { company: 'brook', change: 'company.switch', with: { api: true } };
  await refused('unknown_company', '/company', /There is no company/, switched);
  for (const [change, place, message, given] of others)
    await refused('invalid_change', `/with${place}`, message, { company: id, change, with: given });

  const atOnce = { id: 'same', company: 'at-once', change: 'company.save' } as const;
  const changes = ['1', '2', '3'].map(async (name) => applyChange(backoffice, { ...atOnce, with: { name } }));
  const outcomes = (await Promise.allSettled(changes)).map(({ status }) => status).sort();
  t.strictSame(outcomes, ['fulfilled', 'rejected', 'rejected'], 'of three that add it at once one does');
  const clocks = await engine.run("SELECT COUNT(*) AS count FROM company_clocks WHERE company = 'at-once'");
  t.match(clocks, [{ count: /1/ }]);
});
