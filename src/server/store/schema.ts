import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

import type { Resource } from '../../contract/records.ts';
import type {
  AdministratorsTable,
  AuditEntriesTable,
  FormResultsTable,
  LinksTable,
  NoticesTable,
  SessionsTable,
} from './accounts-schema.ts';
import type { HandOversTable } from './hand-overs-schema.ts';

/**
 * The tables, as Kysely sees them; the migrations are what makes them. Records hold the JSON text that the API
 * serves; every column marked `GeneratedAlways` is computed by the database from that text, so it can't disagree.
 * Times are `YYYY-MM-DDTHH:MM:SS.mmmZ`, days `YYYY-MM-DD`: both order as text. Switches are 0 or 1.
 */
export interface Tables extends Record<Resource, RecordTable> {
  companies: CompaniesTable;
  api_keys: ApiKeysTable;
  /** When each key was used last, as far as it was written down; see key-usage.ts. */
  key_uses: { company: string; key_id: string; used_at: string };
  key_hours: KeyHoursTable;
  customers: RecordTable & { unpublished: Generated<string>; updated_at: GeneratedAlways<string> };
  forms: RecordTable & { updated_at: GeneratedAlways<string> };
  jobs: RecordTable & { updated_at: GeneratedAlways<string> };
  submissions: RecordTable & { form_id: GeneratedAlways<string>; created_at: GeneratedAlways<string> };
  invoices: InvoicesTable;
  quotes: QuotesTable;
  record_contracts: RecordContractsTable;
  /** PostgreSQL's driver gives 64 bits as text. */
  company_clocks: { company: string; last_stamp_ms: ColumnType<number | string, number, number> };
  /** One row: a time that the API has told its readers, or a later one. */
  served_clock: { latest_ms: ColumnType<number | string, number, number> };
  /** One row, or none until it is served: see records/generation.ts. */
  store_generation: { only_row: number; generation: string };
  /** `series` is a number's format with its year filled in; `last_number` is the last that was given out. */
  number_series: { company: string; series: string; last_number: number };
  /** The feed's changes that were made, by their ids. */
  applied_changes: {
    company: string;
    id: string;
    change: string;
    content_digest: string;
    applied_at: string | null;
    /** The record that it was about; null where there is none, or an earlier version applied it. */
    resource: Resource | null;
    record_id: string | null;
    /** The feed token that brought it over HTTP. */
    token: string | null;
  };
  /** The last change of each source that was applied. PostgreSQL's driver gives 64 bits as text. */
  feed_positions: {
    company: string;
    source: string;
    sequence: ColumnType<number | string, number, number>;
    change_id: string | null;
    applied_at: string;
  };
  feed_tokens: FeedTokensTable;
  /** The companies of a token that isn't for all of them. */
  feed_token_companies: { company: string; token: string };
  logos: { company: string; sha256: string; data_url: string };
  documents: DocumentsTable;
  hand_overs: HandOversTable;
  webhooks: WebhooksTable;
  events: EventsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  webhook_hours: WebhookHoursTable;
  administrators: AdministratorsTable;
  portal_sessions: SessionsTable;
  form_results: FormResultsTable;
  portal_links: LinksTable;
  audit_entries: AuditEntriesTable;
  notices: NoticesTable;
  erasures: ErasuresTable;
}

interface CompaniesTable {
  id: string;
  name: string;
  api_enabled: number;
  subscription_active: number;
  invoicing_enabled: number;
  second_factor_required: Generated<number>;
  hand_over: Generated<number>;
  /** JSON array of module names. */
  modules: string;
  /** IANA name, for example `Europe/Dublin`. */
  time_zone: string;
  currency: string;
  /** JSON object: what the law asks of a supplier on its documents. */
  profile: string;
  created_at: string;
  /** JSON object: the format of the numbers of each kind of document that isn't numbered as usual. */
  number_formats: Generated<string>;
  /** JSON array: the kinds of document that the business system issues. */
  issued_elsewhere: Generated<string>;
}

interface ApiKeysTable {
  company: string;
  id: string;
  name: string;
  /** Hex SHA-256 of the secret; the secret itself is never stored. */
  secret_sha256: string;
  /** JSON array of scopes. */
  scopes: string;
  created_at: string;
  revoked_at: Generated<string | null>;
  /** The end of its last day, or when it was revoked. */
  ends_at: Generated<string | null>;
  /** The administrator who made it; null when an operator did. */
  made_by: Generated<string | null>;
}

interface FeedTokensTable {
  id: string;
  name: string;
  /** Hex SHA-256 of the secret; the secret itself is never stored. */
  secret_sha256: string;
  for_all_companies: number;
  /** JSON array of the names of changes; null for all of them. */
  changes: string | null;
  /** JSON array of the scopes that its portal links may give; empty for a token that may make none. */
  portal_scopes: Generated<string>;
  portal_may_invite: Generated<number>;
  created_at: string;
  revoked_at: Generated<string | null>;
  used_at: Generated<string | null>;
}

interface KeyHoursTable {
  company: string;
  hour: string;
  key_id: string;
  /** Requests that were answered, with whatever status, but those that the rate limit refused. */
  answered: number;
  /** Requests that the rate limit refused. */
  limited: number;
}

interface RecordTable {
  company: string;
  id: GeneratedAlways<string>;
  body: string;
  /** Of the record's whole text; null when it was written before there were digests. */
  digest: Generated<string | null>;
}

/** By which contract the records of each resource are rendered; see migrations/0007-record-contracts.ts. */
interface RecordContractsTable {
  resource: string;
  contract_version: string;
  digest: string;
  rendered_company: string | null;
  rendered_id: string | null;
}

interface InvoicesTable extends RecordTable {
  /** The members that only the detail has, as an object's text; joined to `body` when one document is read. */
  detail: string;
  /** JSON object: what the document needs and the API doesn't show. */
  unpublished: Generated<string>;
  kind: GeneratedAlways<string>;
  status: GeneratedAlways<string>;
  customer: GeneratedAlways<string>;
  issue_date: GeneratedAlways<string | null>;
  updated_at: GeneratedAlways<string>;
  /** The columns that a search of documents reads; see migrations/0018-document-search.ts. PostgreSQL's driver gives 64 bits as text. */
  place: GeneratedAlways<string>;
  currency: GeneratedAlways<string>;
  due_date: GeneratedAlways<string | null>;
  gross_minor: GeneratedAlways<number | string>;
  balance_minor: GeneratedAlways<number | string | null>;
  paid_minor: Generated<number | string>;
  search_words: Generated<string>;
}

/** The PDF of an issued document. It is written once and never changes. */
interface DocumentsTable {
  company: string;
  /** The id of the document's record. */
  invoice: string;
  number: string;
  /** Hex SHA-256 of the bytes. */
  sha256: string;
  byte_count: number;
  bytes: Buffer;
}

interface WebhooksTable {
  company: string;
  id: string;
  url: string;
  /** JSON array of event kinds. */
  events: string;
  secret: string;
  created_at: string;
  /** A deleted webhook is kept until its deliveries are gone; nothing else sees it. */
  deleted_at: Generated<string | null>;
  /** While it is paused, its deliveries wait and are passed over. */
  paused_at: Generated<string | null>;
  /** JSON array of the times at which the latest pings were asked for. */
  pinged_at: Generated<string>;
  /** The administrator who registered it; null when an operator did. */
  made_by: Generated<string | null>;
  /** The first attempt that failed after the last that was delivered; null while it isn't failing. */
  failing_since: Generated<string | null>;
  /** When people were last told that it fails. */
  failing_told_at: Generated<string | null>;
  /** When people were last told that deliveries of it are marked failed. */
  failed_told_at: Generated<string | null>;
}

interface EventsTable {
  /** Time-ordered: a company's events in the order of their ids are in the order in which they happened. */
  id: string;
  company: string;
  kind: string;
  created_at: string;
  /** The text of the record, or of what the event says of it. */
  data: string;
}

interface DeliveriesTable {
  /** The id that the receiver sees, in the header and in the body. */
  id: string;
  company: string;
  webhook: string;
  event: string;
  state: Generated<DeliveryState>;
  /** Attempts that were begun. */
  attempt_count: Generated<number>;
  /** Attempts of the schedule under way that failed. */
  failure_count: Generated<number>;
  /** Attempts in a row whose worker died. */
  interruption_count: Generated<number>;
  /** When it is to be sent; while it is being sent, when the lease on it ends. */
  due_at: string;
  /** The worker that has, or had last, the right to tell the attempt's outcome. */
  lease: Generated<string | null>;
  /** Why it is withheld: the code that the API would refuse the same data with. */
  withheld_for: Generated<string | null>;
}

/** The states of a delivery; see migrations/0004-webhooks.ts. */
export type DeliveryState = 'waiting' | 'sending' | 'retrying' | 'delivered' | 'failed' | 'withheld';

interface DeliveryAttemptsTable {
  company: string;
  webhook: string;
  delivery: string;
  number: number;
  attempted_at: string;
  /** One of `status` and `error` is set. */
  status: number | null;
  error: string | null;
  dns_ms: number | null;
  connect_ms: number | null;
  tls_ms: number | null;
  first_byte_ms: number | null;
  total_ms: number;
  next_attempt_at: string | null;
}

/** The attempts of one hour; webhook-health.ts counts them. */
interface WebhookHoursTable {
  company: string;
  webhook: string;
  hour: string;
  delivered_count: number;
  failed_count: number;
  last_delivered_at: string;
  /** Time, reason, delivery and the answer's text, one space between them. */
  last_failure: string;
}

interface QuotesTable extends RecordTable {
  detail: string;
  unpublished: Generated<string>;
  quote_group_id: GeneratedAlways<string>;
  status: GeneratedAlways<string>;
  customer: GeneratedAlways<string>;
  /** `9999-12-31` for a quote without an end, so that a comparison never meets a null. */
  valid_until: GeneratedAlways<string>;
  updated_at: GeneratedAlways<string>;
}

/** Companies that were erased; see migrations/0008-erasures.ts. */
interface ErasuresTable {
  id: string;
  company_sha256: string;
  started_at: string;
  ended_at: string | null;
  row_count: number;
  rows_gone_at: Generated<string | null>;
}
