import type { Scope } from '../../../contract/scopes.ts';
import {
  company,
  flag,
  integer,
  json,
  oneOf,
  orElse,
  orNull,
  secret,
  secretInteger,
  defineTable,
  text,
} from './table.ts';

/*
 * The administrators of companies, how they get in, what they are told, and the audit trail of what they did. Tokens of sessions
 * and links are stored as their SHA-256: nobody who reads the database can use them.
 */

/**
 * An account is unique within its company: one person may administer several companies, and no company learns of the others.
 * One who was removed may be invited again, as somebody else.
 */
export const administrators = defineTable({
  name: 'administrators',
  columns: {
    company,
    id: text,
    /** In lower case; of a company's administrators who aren't disabled, one has it. */
    email: text,
    name: text,
    /** A slow hash with its parameters; see ../../features/sign-in/passwords.ts. Empty for somebody who comes in by portal links alone. */
    password: secret,
    /** Their access, which they may also give to keys and to other administrators. */
    scopes: json<Scope[]>(),
    may_invite: flag,
    /** The administrator who invited them; null when an operator did. */
    made_by: orNull(text),
    created_at: text,
    signed_in_at: orNull(text),
    disabled_at: orNull(text),
    /** The sealed secret of their second factor. */
    second_factor: orNull(secret),
    /** The time step of the last code that was taken. */
    second_factor_step: orNull(secretInteger),
    /** JSON array of the digests of those that are left. */
    recovery_codes: orNull(secret),
    /** The kinds of notices that they want no mail of. */
    muted_notices: orElse(json<string[]>(), "'[]'"),
  },
  key: ['company', 'id'],
  uniqueIndexes: { administrators_email: '(company, email) WHERE disabled_at IS NULL' },
  indexes: {
    // Somebody who signs in is looked for by e-mail address in all companies.
    administrators_sign_in: '(email, id) WHERE disabled_at IS NULL',
  },
});

export const portalSessions = defineTable({
  name: 'portal_sessions',
  columns: {
    company: text,
    /** Hex SHA-256 of what the cookie holds. */
    token_sha256: secret,
    /** The session's public name. */
    id: text,
    administrator: text,
    /** The browser's own name for itself (`User-Agent`). */
    client: text,
    created_at: text,
    seen_at: text,
    /** When it ends, however much it is used. */
    expires_at: text,
    /** True until its company is chosen, and a code of the second factor was given; then it can be used. */
    is_waiting: orElse(flag, '0'),
    /** When its owner last gave a password or a code. */
    proved_at: orElse(text, "''"),
  },
  key: ['company', 'token_sha256'],
  constraints: [
    'UNIQUE (company, id)',
    'FOREIGN KEY (company, administrator) REFERENCES administrators (company, id)',
  ],
  indexes: {
    portal_sessions_administrator: '(company, administrator, created_at)',
    portal_sessions_expiry: '(expires_at)',
  },
  age: 'expires_at',
});

/** The result of each form that was sent in a session, so that a form does one thing once. It ends with its session. */
export const formResults = defineTable({
  name: 'form_results',
  columns: {
    company: text,
    session: text,
    /** Which form it was; see ../../views/form-tokens.ts. */
    form: text,
    done_at: text,
    /** Null until the answer is written. */
    leads_to: orNull(text),
    /** The notice of the page to which the form leads, sealed; null when there is none, or it was shown. */
    notice: orNull(text),
  },
  key: ['company', 'session', 'form'],
  constraints: ['FOREIGN KEY (company, session) REFERENCES portal_sessions (company, id) ON DELETE CASCADE'],
  isInternal: true,
});

/** Invitations, and links that set a password anew. */
export const portalLinks = defineTable({
  name: 'portal_links',
  columns: {
    company,
    token_sha256: secret,
    id: text,
    kind: oneOf('invitation', 'reset'),
    /** The administrator whose password it sets anew; null for an invitation. */
    administrator: orNull(text),
    email: text,
    scopes: json<Scope[]>(),
    may_invite: flag,
    made_by: orNull(text),
    created_at: text,
    expires_at: text,
    /** The person's name and the feed token of an invitation by a business system. */
    name: orNull(text),
    feed_token: orNull(text),
  },
  key: ['company', 'token_sha256'],
  constraints: [
    "CHECK ((kind = 'reset') = (administrator IS NOT NULL))",
    'FOREIGN KEY (company, administrator) REFERENCES administrators (company, id)',
  ],
  indexes: {
    portal_links_company: '(company, kind, id)',
    portal_links_expiry: '(expires_at)',
  },
  age: 'expires_at',
});

/**
 * On PostgreSQL only the owner changes what the audit trail says: a function of the owner removes what is too old, and whoever
 * migrates takes other roles the right to.
 */
export const auditEntries = defineTable({
  name: 'audit_entries',
  columns: {
    company,
    /** Time-ordered. */
    id: text,
    at: text,
    /** Null for an operator. */
    administrator: orNull(text),
    /** As it was then. */
    administrator_name: text,
    action: text,
    /** Id of what it was done to. */
    subject: orNull(text),
    details: json<Record<string, string>>(),
    /** Network address of the browser; null for the command line, as is `client`. */
    address: orNull(text),
    /** The browser's own name for itself (`User-Agent`). */
    client: orNull(text),
  },
  key: ['company', 'id'],
  indexes: {
    audit_entries_action: '(company, action, id)',
    audit_entries_administrator: '(company, administrator, id)',
    audit_entries_age: '(at)',
  },
  also: (engine) => (engine === 'sqlite' ? [] : auditOnPostgres),
});

const auditOnPostgres = [
  // By the database's clock: a role that may add an entry with a time to come removes nothing by that.
  `CREATE FUNCTION forget_old_audit_entries(of_company TEXT, before TEXT) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT AS
    $$ BEGIN DELETE FROM audit_entries WHERE company = of_company AND at < before
      AND at < to_char((now() AT TIME ZONE 'UTC') - INTERVAL '720 days', 'YYYY-MM-DD"T"HH24:MI:SS')
      AND id IN (SELECT id FROM audit_entries WHERE company = of_company ORDER BY id LIMIT 20); END $$`,
  `DO $do$ DECLARE other RECORD; BEGIN
    FOR other IN SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END AS name
      FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = 'audit_entries'::regclass AND grantee <> relowner
    LOOP
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON audit_entries FROM %s', other.name);
    END LOOP;
  END $do$`,
];

/** A notice to a person, by e-mail and on their page, committed with what it tells of. */
export const notices = defineTable({
  name: 'notices',
  columns: {
    company,
    id: text,
    /** Null for somebody who is invited. */
    administrator: orNull(text),
    kind: text,
    details: json<Record<string, string>>(),
    created_at: text,
    /** `muted`: no mail of it is wanted; `seen`: it was read where nobody mails. */
    state: orElse(oneOf('waiting', 'sending', 'sent', 'failed', 'muted', 'seen'), "'waiting'"),
    /** Attempts that were begun. */
    attempt_count: orElse(integer, '0'),
    /** When it is to be mailed; while it is being sent, when the lease on it ends. */
    due_at: text,
    /** The worker that has, or had last, the right to tell the attempt's outcome. */
    lease: orNull(text),
    /** Hex SHA-256 of the code with which its mail stops mails of its kind. */
    stop_sha256: orNull(secret),
    /** Why the last attempt failed: the mail server's code or a class of errors. */
    problem: orNull(text),
  },
  key: ['company', 'id'],
  indexes: {
    notices_due: "(due_at) WHERE state IN ('waiting', 'sending')",
    notices_age: '(created_at)',
    notices_administrator: '(company, administrator, created_at)',
  },
  age: 'created_at',
});
