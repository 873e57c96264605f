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
 * Companies' administrators, their sign-in, their notices, and the audit trail of their actions. Session and link tokens are
 * stored as SHA-256 digests, so nobody who reads the database can use them.
 */

/**
 * Administrator accounts, each unique within its company: one person may administer several companies, and no company learns
 * of the others. A removed administrator who is invited again gets a new account.
 */
export const administrators = defineTable({
  name: 'administrators',
  columns: {
    company,
    id: text,
    /** In lower case; unique among a company's administrators who aren't disabled. */
    email: text,
    name: text,
    /** A slow hash with its parameters; see ../../features/sign-in/passwords.ts. Empty for sign-in by portal links alone. */
    password: secret,
    /** The administrator's access, which they may also grant to keys and to other administrators. */
    scopes: json<Scope[]>(),
    may_invite: flag,
    /** The inviting administrator; null when an operator sent the invitation. */
    made_by: orNull(text),
    created_at: text,
    signed_in_at: orNull(text),
    disabled_at: orNull(text),
    /** The second factor's encrypted secret. */
    second_factor: orNull(secret),
    /** The time step of the last accepted code. */
    second_factor_step: orNull(secretInteger),
    /** JSON array of the digests of unused recovery codes. */
    recovery_codes: orNull(secret),
    /** The kinds of notices that the administrator doesn't want by email. */
    muted_notices: orElse(json<string[]>(), "'[]'"),
  },
  key: ['company', 'id'],
  uniqueIndexes: { administrators_email: '(company, email) WHERE disabled_at IS NULL' },
  indexes: {
    // Sign-in looks up an email address across all companies.
    administrators_sign_in: '(email, id) WHERE disabled_at IS NULL',
  },
});

export const portalSessions = defineTable({
  name: 'portal_sessions',
  columns: {
    company: text,
    /** Hex SHA-256 of the cookie's token. */
    token_sha256: secret,
    /** The session's public id. */
    id: text,
    administrator: text,
    /** The `User-Agent` header of the browser. */
    client: text,
    created_at: text,
    seen_at: text,
    /** The time at which the session ends, however much it is used. */
    expires_at: text,
    /** Whether the session can't be used yet, because a company or a second-factor code is still missing. */
    is_waiting: orElse(flag, '0'),
    /** The last time the administrator gave their password or a code. */
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

/** The result of each form submitted in a session, so that a form submitted twice acts once. Deleted with the session. */
export const formResults = defineTable({
  name: 'form_results',
  columns: {
    company: text,
    session: text,
    /** The form's token; see ../../views/form-tokens.ts. */
    form: text,
    done_at: text,
    /** The address to which the form leads; null until its response is written. */
    leads_to: orNull(text),
    /** The encrypted notice for the page to which the form leads; null when there is none or it has been shown. */
    notice: orNull(text),
  },
  key: ['company', 'session', 'form'],
  constraints: ['FOREIGN KEY (company, session) REFERENCES portal_sessions (company, id) ON DELETE CASCADE'],
  isInternal: true,
});

/** Invitations and password-reset links. */
export const accountLinks = defineTable({
  name: 'portal_links',
  columns: {
    company,
    token_sha256: secret,
    id: text,
    kind: oneOf('invitation', 'reset'),
    /** The administrator whose password the link resets; null for an invitation. */
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
 * The audit trail. On PostgreSQL only the owner can change entries: a function of the owner's removes those that are too old,
 * and the migration revokes other roles' rights.
 */
export const auditEntries = defineTable({
  name: 'audit_entries',
  columns: {
    company,
    /** Time-ordered id. */
    id: text,
    at: text,
    /** The acting administrator; null for an operator. */
    administrator: orNull(text),
    /** The administrator's name at the time of the action. */
    administrator_name: text,
    action: text,
    /** Id of the action's target. */
    subject: orNull(text),
    details: json<Record<string, string>>(),
    /** Network address of the browser; like `client`, null for the command line. */
    address: orNull(text),
    /** The `User-Agent` header of the browser. */
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
  // Checked by the database's clock, so that passing a future time can't remove recent entries.
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

/** Notices by email and on administrators' portal pages, committed together with the change that each reports. */
export const notices = defineTable({
  name: 'notices',
  columns: {
    company,
    id: text,
    /** The recipient; null for somebody who is being invited. */
    administrator: orNull(text),
    kind: text,
    details: json<Record<string, string>>(),
    created_at: text,
    /** `muted`: the recipient wants no mail of this kind; `seen`: it was read in the portal, without mail. */
    state: orElse(oneOf('waiting', 'sending', 'sent', 'failed', 'muted', 'seen'), "'waiting'"),
    /** Number of attempts started. */
    attempt_count: orElse(integer, '0'),
    /** The time to send the mail; while it is being sent, the end of its lease. */
    due_at: text,
    /** Id of the current or last lease, whose worker alone may record the attempt's outcome. */
    lease: orNull(text),
    /** Hex SHA-256 of the code in its mail with which the recipient can unsubscribe from this kind. */
    stop_sha256: orNull(secret),
    /** The reason for the last failure: the mail server's code or a class of errors. */
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
