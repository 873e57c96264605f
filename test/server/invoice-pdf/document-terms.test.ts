import t from 'tap';

import { omit } from '../../../src/contract/document-terms.ts';
import { exampleDocuments, textsOf } from './_documents.ts';
import { richCustomer, richLine, richProfile, richTerms } from './_rich-documents.ts';

/** Texts of terms, without codes: a page has words for them, or nothing. */
function textsIn(value: unknown, name = ''): string[] {
  if (/code$|scheme$|classifications|attributes|date$|peppol|linenumber/i.test(name)) return [];
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([inner, member]) =>
    textsIn(member, Array.isArray(value) ? name : inner),
  );
}

// An account is in groups, and numbers of parties are for programs.
const squeezed = (text: string) => text.replace(/\s/g, '');

const pages = (await exampleDocuments()).map(({ name, document }) => ({
  name,
  page: squeezed(textsOf(document).join('')),
}));

t.test('the page says what the terms of a document say', async (t) => {
  for (const { name, page } of pages.filter((one) => one.name.endsWith('with every term'))) {
    const profile = omit(richProfile, ['identifiers', 'latePaymentTerms']);
    const customer = omit(richCustomer, ['identifier']);
    const texts = textsIn([richTerms, richLine, profile, customer]);
    t.ok(texts.length > 60);
    t.strictSame(
      texts.filter((text) => !page.includes(squeezed(text))),
      [],
      name,
    );
    for (const text of [
      'Colour:Brass',
      '2to6November2026',
      'Taxpoint13November2026',
      'INV-2025-0099of1December2025',
      'Delivered5November2026',
      'Pricebeforediscount:112.50less12.50',
    ])
      t.ok(page.includes(text), text);
  }
});

t.test('the page says of which kind an invoice is, and why a charge has no VAT', async (t) => {
  const said = [
    ['KindPartialconstructioninvoice', 'TaxpointDateofpayment', 'Exempt:VATCA2010Sch1para8'],
    ['KindCorrectedinvoice', 'TaxpointDateofdelivery'],
    ['0.6667per10', 'Pricebeforediscount:1.00less0.3333'],
  ];
  const shown = pages.filter(({ name }) => name.includes('with more terms'));
  t.equal(shown.length, said.length);
  for (const [index, { page }] of shown.entries())
    for (const text of said[index] ?? []) t.ok(page.includes(text), text);
});
