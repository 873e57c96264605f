import type { Generated } from 'kysely';

/** The tables of the portal; see migrations/0006-portal.ts, 0011-accounts.ts and those from 0017-by-company.ts on. Times are as in schema.ts. */
export interface AdministratorsTable {
  id: string;
  company: string;
  /** In lower case; of a company's administrators who aren't disabled, one has it. */
  email: string;
  name: string;
  /** A slow hash with its parameters; see ../access/passwords.ts. Empty for somebody who comes in by portal links alone. */
  password: string;
  /** JSON array of scopes. */
  scopes: string;
  may_invite: number;
  /** The administrator who invited them; null when an operator did. */
  made_by: string | null;
  created_at: string;
  signed_in_at: Generated<string | null>;
  disabled_at: Generated<string | null>;
  /** The sealed secret of their second factor. */
  second_factor: Generated<string | null>;
  second_factor_step: Generated<number | null>;
  /** JSON array of digests. */
  recovery_codes: Generated<string | null>;
  /** JSON array of the kinds of notices that they want no mail of. */
  muted_notices: Generated<string>;
}

export interface SessionsTable {
  company: string;
  /** Hex SHA-256 of what the cookie holds. */
  token_sha256: string;
  /** The session's public name. */
  id: string;
  administrator: string;
  /** The browser's own name for itself (`User-Agent`). */
  client: string;
  created_at: string;
  seen_at: string;
  /** When it ends, however much it is used. */
  expires_at: string;
  /** 1 until its company is chosen, and a code of the second factor was given; then it can be used. */
  is_waiting: Generated<number>;
  /** When its owner last gave a password or a code; empty where an earlier version began it. */
  proved_at: Generated<string>;
}

export interface FormResultsTable {
  company: string;
  session: string;
  /** Which form it was; see ../portal/form-tokens.ts. */
  form: string;
  done_at: string;
  /** Null until the answer is written. */
  leads_to: Generated<string | null>;
  /** The notice of the page to which the form leads, sealed; null when there is none, or it was shown. */
  notice: Generated<string | null>;
}

export interface LinksTable {
  token_sha256: string;
  id: string;
  kind: 'invitation' | 'reset';
  company: string;
  /** Whose password it sets anew; null for an invitation. */
  administrator: string | null;
  email: string;
  scopes: string;
  may_invite: number;
  made_by: string | null;
  created_at: string;
  expires_at: string;
  /** Of an invitation by a business system: the person's name, and the feed token. */
  name: string | null;
  feed_token: string | null;
}

export interface AuditEntriesTable {
  company: string;
  /** Time-ordered. */
  id: string;
  at: string;
  /** Null for an operator. */
  administrator: string | null;
  /** As it was then. */
  administrator_name: string;
  action: string;
  /** Id of what it was done to. */
  subject: string | null;
  /** JSON object of texts. */
  details: string;
  /** Network address of the browser; null for the command line. */
  address: string | null;
  /** The browser's own name for itself (`User-Agent`). */
  client: string | null;
}

export interface NoticesTable {
  company: string;
  id: string;
  /** Null for somebody who is invited. */
  administrator: string | null;
  kind: string;
  /** JSON object of texts. */
  details: string;
  created_at: string;
  /** `muted`: no mail of it is wanted. */
  state: Generated<'waiting' | 'sending' | 'sent' | 'failed' | 'muted'>;
  /** Attempts that were begun. */
  attempt_count: Generated<number>;
  due_at: string;
  /** The worker that has, or had last, the right to tell the attempt's outcome. */
  lease: Generated<string | null>;
  /** Hex SHA-256 of the code with which its mail stops mails of its kind. */
  stop_sha256: Generated<string | null>;
  /** Why the last attempt failed: the mail server's code or a class of errors. */
  problem: Generated<string | null>;
}
