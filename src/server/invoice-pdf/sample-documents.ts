import { exampleBodies } from '../../contract/examples.ts';
import type { Invoice } from '../../contract/records.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';

/**
 * Returns ten documents of different kinds, with which a template is tried: the contract's examples of documents
 * (openapi.yaml, `getInvoice`). One has many pages, and one is a statement of account.
 */
export function sampleDocuments(): PrintedDocument[] {
  return exampleBodies('getInvoice').map(({ data }, index) => {
    const record = data as Invoice;
    return {
      record: index === MANY_PAGES ? { ...record, lines: Array(40).fill(record.lines).flat() } : record,
      reverseChargeRates: {},
      supplier: { ...supplier, pageSize: index % 2 === 0 ? 'A4' : 'Letter' },
      logo: index % 2 === 0 ? LOGO : undefined,
      statementOn: index === STATEMENT ? '2026-12-31' : undefined,
    };
  });
}

const MANY_PAGES = 1;
const STATEMENT = 6;

const supplier: PrintedDocument['supplier'] = {
  legalName: 'Brennan Heating & Electrical Limited',
  tradingName: 'Brennan Heating',
  addressLines: ['Unit 4, Ballymount Road', 'Dublin 12'],
  postcode: 'D12 Y8X4',
  countryCode: 'IE',
  vatId: 'IE6388047V',
  companyNumber: '654321',
  email: 'accounts@brennan.example',
  phone: '+353 1 555 0123',
  bankAccountName: 'Brennan Heating & Electrical Ltd',
  iban: 'IE29AIBK93115212345678',
  bic: 'AIBKIE2DXXX',
};

/** A grey square of 16 by 16 pixels. */
const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAQAAAC1+jfqAAAAFElEQVR4nGNo+I8fMowq+D+CwgEA0aZ/EDmm/+4AAAAASUVORK5CYII=';
