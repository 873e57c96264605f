import type { ElectronicAddress, PartyIdentifier } from '../../../contract/feed.ts';
import type { Module } from '../../../contract/scopes.ts';
import { bigInteger, company, flag, integer, json, orElse, orNull, defineTable, text } from './table.ts';

/** The supplier's details on a document, including those for payment (research: legal content of VAT documents). */
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
  /** Online payment link: an https address with the placeholders `{number}` and `{amount}`. */
  paymentLink?: string;
  /** Terms for late payment, in the company's own words. */
  latePaymentTerms?: string;
  pageSize?: 'A4' | 'Letter';
  /** A `data:` URL of a PNG or JPEG picture. */
  logo?: string;
}

/** A kind of document that either Fieldledger or the business system issues. */
export type IssuedDocumentKind = 'invoice' | 'credit_note' | 'quote';

export const companies = defineTable({
  name: 'companies',
  columns: {
    id: text,
    name: text,
    api_enabled: flag,
    subscription_active: flag,
    invoicing_enabled: flag,
    /** Whether administrators need a second factor to use the portal. */
    second_factor_required: orElse(flag, '0'),
    /** Whether the company's invoices and credit notes go to the operator's access point when they are issued. */
    hand_over: orElse(flag, '0'),
    modules: json<Module[]>(),
    /** IANA name, for example `Europe/Dublin`: the company's calendar day decides when a quote expires. */
    time_zone: text,
    /** The currency in which the company accounts for VAT. */
    currency: text,
    profile: json<CompanyProfile>(),
    created_at: text,
    /** Custom number formats by kind of document; a kind without one uses the default. */
    number_formats: orElse(json<Partial<Record<string, string>>>(), "'{}'"),
    /** The kinds of document that the business system issues; these are imported and can't be issued here. */
    issued_elsewhere: orElse(json<IssuedDocumentKind[]>(), "'[]'"),
  },
  key: ['id'],
});

/** The time stamp of each company's last change, kept apart from the larger company row because every move writes it. */
export const companyClocks = defineTable({
  name: 'company_clocks',
  columns: { company, last_stamp_ms: bigInteger },
  key: ['company'],
  isKeyed: true,
  isInternal: true,
});

/** One row with the latest time that the API may have given its clients; see ../records/served-clock.ts. */
export const servedClock = defineTable({
  name: 'served_clock',
  columns: { latest_ms: bigInteger },
  key: [],
  also: () => ['INSERT INTO served_clock (latest_ms) VALUES (0)'],
});

/** The last number used in each series; `series` is a number format with the year filled in. */
export const numberSeries = defineTable({
  name: 'number_series',
  columns: { company, series: text, last_number: integer },
  key: ['company', 'series'],
  isKeyed: true,
});

/** Erased companies, identified only by a digest: an operator who knows a company's id can look up its erasure. */
export const erasures = defineTable({
  name: 'erasures',
  columns: {
    id: text,
    company_sha256: text,
    started_at: text,
    /** The time the erasure was complete; null while rows remain or the database file hasn't been rewritten. */
    ended_at: orNull(text),
    row_count: integer,
    rows_gone_at: orNull(text),
  },
  key: ['id'],
});
