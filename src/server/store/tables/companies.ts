import type { ElectronicAddress, PartyIdentifier } from '../../../contract/feed.ts';
import type { Module } from '../../../contract/scopes.ts';
import { bigInteger, company, flag, integer, json, orElse, orNull, defineTable, text } from './table.ts';

/** The supplier's part of a document, with the details for payment (research: legal content of VAT documents). */
export interface CompanyProfile {
  legalName?: string;
  tradingName?: string;
  addressLines?: string[];
  town?: string;
  region?: string;
  postcode?: string;
  /** ISO 3166-1 alpha-2; documents are supported for IE and GB. */
  countryCode?: string;
  vatId?: string;
  companyNumber?: string;
  companyNumberScheme?: string;
  taxNumber?: string;
  legalText?: string;
  identifiers?: PartyIdentifier[];
  electronicAddress?: ElectronicAddress;
  contactName?: string;
  email?: string;
  phone?: string;
  website?: string;
  bankAccountName?: string;
  iban?: string;
  bic?: string;
  /** Where a customer can pay online: an https address with the places `{number}` and `{amount}`. */
  paymentLink?: string;
  /** Terms for late payment, in the company's own words. */
  latePaymentTerms?: string;
  pageSize?: 'A4' | 'Letter';
  /** A `data:` URL of a PNG or JPEG picture. */
  logo?: string;
}

/** A kind of document that is issued here, or by the business system. */
export type IssuedDocumentKind = 'invoice' | 'credit_note' | 'quote';

export const companies = defineTable({
  name: 'companies',
  columns: {
    id: text,
    name: text,
    api_enabled: flag,
    subscription_active: flag,
    invoicing_enabled: flag,
    /** Whether its administrators can't use the portal without a second factor. */
    second_factor_required: orElse(flag, '0'),
    /** Whether the invoices and credit notes that it issues go to the operator's access point. */
    hand_over: orElse(flag, '0'),
    modules: json<Module[]>(),
    /** IANA name, for example `Europe/Dublin`: the company's calendar day decides when a quote expires. */
    time_zone: text,
    /** The company's own currency, in which its VAT is accounted for. */
    currency: text,
    profile: json<CompanyProfile>(),
    created_at: text,
    /** The format of the numbers of each kind of document that isn't numbered as usual. */
    number_formats: orElse(json<Partial<Record<string, string>>>(), "'{}'"),
    /** The kinds of document that the business system issues: these are imported, and not issued here. */
    issued_elsewhere: orElse(json<IssuedDocumentKind[]>(), "'[]'"),
  },
  key: ['id'],
});

/** The stamp of each company's last change: apart, because every move writes it and a company's row carries its profile. */
export const companyClocks = defineTable({
  name: 'company_clocks',
  columns: { company, last_stamp_ms: bigInteger },
  key: ['company'],
  isKeyed: true,
  isInternal: true,
});

/** A time that the API has told its readers, or a later one, in one row. */
export const servedClock = defineTable({
  name: 'served_clock',
  columns: { latest_ms: bigInteger },
  key: [],
  also: () => ['INSERT INTO served_clock (latest_ms) VALUES (0)'],
});

/** The last number of each series that was given out; `series` is a number's format with its year filled in. */
export const numberSeries = defineTable({
  name: 'number_series',
  columns: { company, series: text, last_number: integer },
  key: ['company', 'series'],
  isKeyed: true,
});

/** Companies that were erased, without anything that is theirs: an operator who knows a company's id finds its erasure. */
export const erasures = defineTable({
  name: 'erasures',
  columns: {
    id: text,
    company_sha256: text,
    started_at: text,
    /** Null while rows are left, or the file of the database isn't written anew. */
    ended_at: orNull(text),
    row_count: integer,
    rows_gone_at: orNull(text),
  },
  key: ['id'],
});
