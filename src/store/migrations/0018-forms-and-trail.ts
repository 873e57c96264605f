import type { Migration } from '../migrate.ts';

/**
 * What came of each form that was sent in a session, so that a form does one thing once: where it led, and what the next
 * page says, encrypted with a key that only the session's cookie holds. It ends with its session.
 *
 * Each entry of the audit trail says from which address it was made, and with which browser; null for the command line,
 * and for what was recorded before.
 */
export const formsAndTrail: Migration = {
  name: '0018-forms-and-trail',
  statements: ({ text, table }) => [
    `CREATE TABLE form_results (
      session ${text} NOT NULL REFERENCES portal_sessions (id) ON DELETE CASCADE,
      form ${text} NOT NULL,
      done_at ${text} NOT NULL,
      leads_to ${text},
      notice ${text},
      PRIMARY KEY (session, form)
    ) ${table}`,
    'ALTER TABLE portal_sessions DROP COLUMN flash',
    `ALTER TABLE audit_entries ADD COLUMN address ${text}`,
    `ALTER TABLE audit_entries ADD COLUMN client ${text}`,
  ],
};
