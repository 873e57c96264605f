import t from 'tap';

import type { DocumentTerms } from '../../../src/contract/feed.ts';
import { paymentOf } from '../../../src/server/e-invoice/reading-payment.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { transferText } from '../../../src/server/printed-document/payment-code.ts';
import { accountStatementsOf, statementsOf } from '../../../src/server/printed-document/statements.ts';
import { documentsByName } from '../invoice-pdf/_documents.ts';

const documentNamed = await documentsByName();
const plain = documentNamed('issued invoice, Irish, one rate');
const paidBy = (payment: DocumentTerms['payment'], supplier: object = {}): PrintedDocument => ({
  ...plain,
  supplier: { ...plain.supplier, paymentLink: 'https://pay.example/{number}', ...supplier },
  terms: payment ? { payment } : {},
});

/** What a document says of its payment. */
function saidBy(document: PrintedDocument, statements = statementsOf): string {
  const payment = statements(document).find(({ heading }) => /pay/i.test(heading));
  const { heading, paragraphs = [], details = [], link, code } = payment ?? {};
  const rest = [link && 'link', code && 'code'].filter(Boolean);
  return [heading, ...paragraphs, ...details.map((detail) => detail.join(' ')), ...rest].join(' | ');
}

const IBAN = 'IE29 AIBK 9311 5212 3456 78';
const OWN = `Account name Brennan Heating & Electrical Ltd | IBAN ${IBAN} | BIC AIBKIE2DXXX`;
const PLEASE = 'Please pay €201.41 by 20 December 2026 (payment terms: 30 days).';

t.test('a document asks for what its means of payment ask for', async (t) => {
  const card = { cardNumber: '4242' };
  const other = { id: 'de89370400440532013000', bic: 'cobadeff xxx' };
  const rows: [payment: DocumentTerms['payment'], said: string][] = [
    [undefined, `How to pay | ${PLEASE} | ${OWN} | Payment reference INV-2026-0001 | link | code`],
    [
      { meansCode: '59', mandateReference: 'M-1', debitedAccount: 'IE64IRCE92050112345678' },
      'Payment | €201.41 will be collected from account IE64 IRCE 9205 0112 3456 78 on 20 December 2026. | ' +
        'Means of payment SEPA direct debit | Mandate M-1 | Debited account IE64IRCE92050112345678 | Payment reference INV-2026-0001',
    ],
    [
      { meansCode: '49' },
      'collected from your account on 20 December 2026. | Means of payment Direct debit |',
    ],
    [
      { meansCode: '54', ...card },
      'charged to the card ending in 4242 on 20 December 2026. | Means of payment Credit card |',
    ],
    [{ meansCode: '57' }, 'will be paid by standing agreement on 20 December 2026. |'],
    [{ meansCode: '97' }, 'will be cleared between partners on 20 December 2026. |'],
    [{ meansCode: '10' }, `${PLEASE} | Means of payment In cash |`],
    [{ meansCode: '20', meansText: 'Cheque by post' }, `${PLEASE} | Means of payment Cheque by post |`],
    [{ meansCode: '48' }, `${PLEASE} | Means of payment Bank card |`],
    [
      { meansCode: '68' },
      `${PLEASE} | Means of payment Online payment service | Payment reference INV-2026-0001 | link`,
    ],
    [
      { remittance: 'RF18' },
      `${PLEASE} | ${OWN} | Means of payment SEPA credit transfer | Payment reference RF18 | link | code`,
    ],
    [
      { meansCode: '58', accounts: [other] },
      `${PLEASE} | IBAN DE89 3704 0044 0532 0130 00 | BIC COBADEFFXXX | Means of payment SEPA credit transfer | Payment reference INV-2026-0001 | code`,
    ],
  ];
  for (const [payment, said] of rows) {
    const text = saidBy(paidBy(payment));
    t.ok(text.includes(said), `${said}\n${text}`);
    t.equal(
      /link$|link \| code$/.test(text),
      /link/.test(said) || ['10', '20', '48'].includes(payment?.meansCode ?? ''),
      text,
    );
  }
});

t.test('a draft and a statement of account say it in their own tense', async (t) => {
  const document = paidBy({ meansCode: '49' });
  const draft = { ...document, record: { ...document.record, status: 'draft' as const } };
  t.match(
    saidBy(draft),
    /nothing to pay on this draft\. \| Once it is issued, €201\.41 will be collected from your account on/,
  );
  const overdue = { ...document, statementOn: '2027-01-05' };
  t.match(
    saidBy(overdue, accountStatementsOf),
    'was to be collected from your account on 20 December 2026, and is still open.',
  );
});

t.test('the e-invoice and the code have the same account and reference as the page', async (t) => {
  const own = { id: IBAN.replaceAll(' ', ''), isIban: true, serviceProvider: 'AIBKIE2DXXX' };
  t.match(paymentOf(paidBy({ remittance: 'RF18' })), {
    meansCode: '58',
    remittance: 'RF18',
    accounts: [own],
  });
  t.match(transferText(paidBy({ remittance: 'RF18' }), 1), /\nIE29AIBK93115212345678\nEUR0\.01\n\n\nRF18$/);
  const accounts = [{ id: 'DE89370400440532013000', name: 'Factor' }];
  t.match(transferText(paidBy({ meansCode: '30', accounts }), 1), /\nFactor\nDE89370400440532013000\n/);
  t.equal(transferText(paidBy({ meansCode: '49' }), 1), undefined);
  // BR-61: a transfer needs an account, which nobody has named here.
  const nowhere = paidBy({ meansCode: '30' }, { iban: undefined });
  t.match(paymentOf(nowhere), { meansCode: '1', accounts: [] });
});
