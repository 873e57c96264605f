import type { Dialect, Migration } from '../migrate.ts';

/**
 * Who administers a company in the portal, how they get in, and what they did.
 *
 * Tokens of sessions and links are stored as their SHA-256: who reads the database can't use them. A session's `flash`
 * is what the next page says once, encrypted with a key that only the session's cookie holds.
 */
export const portal: Migration = {
  name: '0009-portal',
  statements: (dialect) => [
    administratorsTable(dialect),
    // Who was removed may be invited again, as somebody else.
    'CREATE UNIQUE INDEX administrators_email ON administrators (email) WHERE disabled_at IS NULL',
    'CREATE INDEX administrators_company ON administrators (company, id)',
    sessionsTable(dialect),
    'CREATE INDEX portal_sessions_administrator ON portal_sessions (administrator, created_at)',
    'CREATE INDEX portal_sessions_expiry ON portal_sessions (expires_at)',
    linksTable(dialect),
    'CREATE INDEX portal_links_company ON portal_links (company, kind, id)',
    'CREATE INDEX portal_links_expiry ON portal_links (expires_at)',
    auditTable(dialect),
    'CREATE INDEX audit_entries_action ON audit_entries (company, action, id)',
    'CREATE INDEX audit_entries_administrator ON audit_entries (company, administrator, id)',
    // The administrator who made it; null when an operator did.
    `ALTER TABLE api_keys ADD COLUMN made_by ${dialect.text}`,
    `ALTER TABLE webhooks ADD COLUMN made_by ${dialect.text}`,
  ],
};

function administratorsTable({ text, table }: Dialect): string {
  return `CREATE TABLE administrators (
    id ${text} PRIMARY KEY,
    company ${text} NOT NULL REFERENCES companies (id),
    email ${text} NOT NULL,
    name ${text} NOT NULL,
    password ${text} NOT NULL,
    scopes ${text} NOT NULL,
    may_invite INTEGER NOT NULL CHECK (may_invite IN (0, 1)),
    made_by ${text},
    created_at ${text} NOT NULL,
    signed_in_at ${text},
    disabled_at ${text}
  ) ${table}`;
}

function sessionsTable({ text, table }: Dialect): string {
  return `CREATE TABLE portal_sessions (
    token_sha256 ${text} PRIMARY KEY,
    id ${text} NOT NULL UNIQUE,
    administrator ${text} NOT NULL REFERENCES administrators (id),
    client ${text} NOT NULL,
    created_at ${text} NOT NULL,
    seen_at ${text} NOT NULL,
    expires_at ${text} NOT NULL,
    flash ${text}
  ) ${table}`;
}

function linksTable({ text, table }: Dialect): string {
  return `CREATE TABLE portal_links (
    token_sha256 ${text} PRIMARY KEY,
    id ${text} NOT NULL UNIQUE,
    kind ${text} NOT NULL CHECK (kind IN ('invitation', 'reset')),
    company ${text} NOT NULL REFERENCES companies (id),
    administrator ${text} REFERENCES administrators (id),
    email ${text} NOT NULL,
    scopes ${text} NOT NULL,
    may_invite INTEGER NOT NULL CHECK (may_invite IN (0, 1)),
    made_by ${text},
    created_at ${text} NOT NULL,
    expires_at ${text} NOT NULL,
    CHECK ((kind = 'reset') = (administrator IS NOT NULL))
  ) ${table}`;
}

function auditTable({ text, table }: Dialect): string {
  return `CREATE TABLE audit_entries (
    company ${text} NOT NULL REFERENCES companies (id),
    id ${text} NOT NULL,
    at ${text} NOT NULL,
    administrator ${text},
    administrator_name ${text} NOT NULL,
    action ${text} NOT NULL,
    subject ${text},
    details ${text} NOT NULL,
    PRIMARY KEY (company, id)
  ) ${table}`;
}
