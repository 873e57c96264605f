import type { Dialect, Migration } from './migration.ts';

/**
 * The administrators of companies, how they get in, and the audit trail of what they did.
 *
 * Tokens of sessions and links are stored as their SHA-256: nobody who reads the database can use them. The `notice` of a
 * form's result is what the next page says once, encrypted with a key that only the session's cookie holds. `address`
 * and `client` of an audit entry are null for the command line.
 */
export const portal: Migration = {
  name: '0006-portal',
  statements: (dialect) => [
    administratorsTable(dialect),
    // An administrator who was removed may be invited again, as somebody else.
    'CREATE UNIQUE INDEX administrators_email ON administrators (email) WHERE disabled_at IS NULL',
    'CREATE INDEX administrators_company ON administrators (company, id)',
    sessionsTable(dialect),
    'CREATE INDEX portal_sessions_administrator ON portal_sessions (administrator, created_at)',
    'CREATE INDEX portal_sessions_expiry ON portal_sessions (expires_at)',
    formResultsTable(dialect),
    linksTable(dialect),
    'CREATE INDEX portal_links_company ON portal_links (company, kind, id)',
    'CREATE INDEX portal_links_expiry ON portal_links (expires_at)',
    auditTable(dialect),
    'CREATE INDEX audit_entries_action ON audit_entries (company, action, id)',
    'CREATE INDEX audit_entries_administrator ON audit_entries (company, administrator, id)',
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
    expires_at ${text} NOT NULL
  ) ${table}`;
}

/** The result of each form that was sent in a session, so that a form does one thing once. It ends with its session. */
function formResultsTable({ text, table }: Dialect): string {
  return `CREATE TABLE form_results (
    session ${text} NOT NULL REFERENCES portal_sessions (id) ON DELETE CASCADE,
    form ${text} NOT NULL,
    done_at ${text} NOT NULL,
    leads_to ${text},
    notice ${text},
    PRIMARY KEY (session, form)
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
    address ${text},
    client ${text},
    PRIMARY KEY (company, id)
  ) ${table}`;
}
