/** Documents with all the references, identifiers and parties that the feed takes. */
import type { DocumentTerms, DraftLine, ChangeContent } from '../../../src/contract/feed.ts';
import { line, lineIn } from '../backoffice/_documents.ts';
import { irishProfile } from '../backoffice/_parties.ts';
import type { Story } from './_documents.ts';

const galway = { town: 'Galway', region: 'Co. Galway', postcode: 'H91 E2V8' };
const limerick = { town: 'Limerick', region: 'Co. Limerick', postcode: 'V94 T2WX' };
const paris = { town: 'Paris', region: 'Île-de-France', postcode: '75002', countryCode: 'FR' };
const registered = { companyNumber: '777', companyNumberScheme: '0060' } as const;

export const richTerms: DocumentTerms = {
  projectReference: 'PRJ-7',
  contractReference: 'CON-2026-3',
  salesOrderReference: 'SO-88',
  receivingAdviceReference: 'REC-5',
  despatchAdviceReference: 'DES-4',
  tenderReference: 'LOT-2',
  invoicedObject: { id: '10308123456', scheme: 'MG' },
  buyerAccountingReference: '4217',
  taxPointDate: '2026-11-13',
  paymentTerms: '2 % discount within 10 days.',
  notes: [{ text: 'The boiler has to be checked every year.', subjectCode: 'AAI' }, { text: 'Thank you.' }],
  precedingInvoices: [{ number: 'INV-2025-0099', issueDate: '2025-12-01' }, { number: 'INV-2025-0100' }],
  payee: { name: 'Factoring Limited', identifier: { id: 'FAC-1' }, ...registered },
  taxRepresentative: {
    name: 'Tax Agents SA',
    vatId: 'FR11123456782',
    addressLines: ['1 rue de la Paix', 'Bâtiment B', 'Étage 2'],
    ...paris,
  },
  delivery: {
    date: '2026-11-05',
    name: 'Boiler house',
    locationId: { id: '5391234500004', scheme: '0088' },
    addressLines: ['Rear of 1 Quay Street', 'Gate 2', 'Yard 3'],
    ...galway,
    countryCode: 'IE',
  },
  payment: {
    meansCode: '30',
    meansText: 'Credit transfer',
    remittance: 'RF18 5390 0754 7034',
    accounts: [
      { id: 'IE29 AIBK 9311 5212 3456 78', name: 'Brennan Heating', bic: 'AIBKIE2D' },
      { id: '12345678', name: 'Brennan in London', bic: 'AIBKGB2L' },
    ],
    cardNumber: '123456',
    cardHolder: 'Jane Doyle',
    mandateReference: 'MAN-1',
    creditorId: 'IE98ZZZ0123456',
    debitedAccount: 'IE64IRCE92050112345678',
  },
  supportingDocuments: [
    { reference: 'TS-1', description: 'Time sheet', url: 'https://brennan.example/ts-1.pdf' },
    { reference: 'PHOTOS' },
  ],
};

export const richLine: Partial<DraftLine> = {
  lineNumber: '10',
  priceDiscount: '12.5',
  note: 'The old valve was left on the site.',
  supplyPeriod: { startDate: '2026-11-02', endDate: '2026-11-06' },
  invoicedObject: { id: 'BOILER-1', scheme: 'ABZ' },
  orderLineReference: '3',
  buyerAccountingReference: '4218',
  sellerItemId: 'VALVE-15',
  buyerItemId: '90-4711',
  standardItemId: { id: '4006381333931', scheme: '0160' },
  classifications: [
    { code: '42131100', scheme: 'STI', version: '2008' },
    { code: '40141600', scheme: 'TST' },
  ],
  attributes: [
    { name: 'Width', value: '15 mm' },
    { name: 'Colour', value: 'Brass' },
  ],
  originCountryCode: 'DE',
};

export const richCustomer: Partial<ChangeContent<'customer.save'>> = {
  name: 'Harbour View',
  legalName: 'Harbour View Hotel Limited',
  addressLines: ['Harbour House', '1 Quay Street', 'Claddagh'],
  ...galway,
  companyNumber: '123456',
  companyNumberScheme: '0060',
  identifier: { id: '5391234500004', scheme: '0088' },
  contactName: 'Ann Roe',
  phone: '+353 91 555 0100',
  email: 'accounts@harbour.example',
};

export const richProfile = {
  ...irishProfile,
  tradingName: 'Brennan',
  addressLines: ['Unit 4', '2 Dock Road', 'Docks'],
  ...limerick,
  companyNumber: '654321',
  companyNumberScheme: '0060',
  taxNumber: '201/113/40209',
  legalText: 'Directors: J. Brennan, M. Brennan',
  identifiers: [{ id: 'SUP-9' }, { id: '5391234500004', scheme: '0088' }],
  contactName: 'Jane Doyle',
  phone: '+353 61 555 0100',
  email: 'office@brennan.example',
  latePaymentTerms: 'Interest runs at 8 % above the base rate.',
};

export const namesInScripts = {
  Arabic: 'محمد عبد الله الإسلام',
  Hebrew: 'שרה כהן',
  Hindi: 'श्री कृष्ण शर्मा',
  Thai: 'นางสาวน้ำทิพย์ ที่รัก',
  Chinese: '王小明',
  Japanese: '高橋さくら',
  Korean: '김민수',
};

/** A document of a Peppol customer with every term, as an invoice and as a credit note. */
const everyTerm = (['invoice', 'credit_note'] as const).map((kind): Story => ({
  name: `${kind} with every term`,
  company: { profile: richProfile },
  customer: { ...richCustomer, peppol: true },
  draft: {
    lines: [line(richLine), line({ description: 'Second line' })],
    supplyPeriod: { startDate: '2026-11-01', endDate: '2026-11-14' },
    buyerReference: 'Cost centre 12',
    purchaseOrderReference: 'PO-7',
    note: 'Boiler service',
    terms: richTerms,
  },
  credit: { terms: richTerms, lines: [line(richLine)] },
  kind,
  status: 'issued',
}));

const exemption = {
  vatExemptionReason: 'Exempt: VATCA 2010 Sch 1 para 8',
  vatExemptionReasonCode: 'VATEX-EU-135-1',
} as const;
const exempt = { vatCategory: 'E', vatRateBasisPoints: 0, reason: 'Insurance of the transport' } as const;

const agreed = { amountMinor: 500, baseMinor: 8_000, reason: 'Agreed' };

/** Invoices of kinds of their own, with a base without a percentage, with codes of exemptions and of tax points, and with a price of ten that includes VAT. */
const moreTerms: readonly Story['draft'][] = [
  {
    lines: [line()],
    charges: [{ ...exempt, ...exemption, amountMinor: 500 }],
    allowances: [{ ...exempt, amountMinor: 100 }],
    terms: { typeCode: '875', taxPointCode: '432' },
  },
  {
    lines: [lineIn('E', exemption), line({ allowances: [agreed], supplyPeriod: { endDate: '2026-11-14' } })],
    terms: { typeCode: '384', taxPointCode: '35' },
  },
  {
    lines: [
      line({ quantity: '1000', unitPrice: '0.6667', priceBaseQuantity: '10', priceDiscount: '0.3333' }),
    ],
    pricesIncludeVat: true,
  },
];

export const richDocuments: readonly Story[] = [
  ...everyTerm,
  ...moreTerms.map((draft, index): Story => {
    const parties = { company: { profile: richProfile }, customer: richCustomer };
    const name = `invoice with more terms, ${index + 1}`;
    return { name, ...parties, draft, kind: 'invoice', status: 'issued' };
  }),
];
