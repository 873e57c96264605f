import type { Migration } from './migration.ts';

/**
 * An account is unique within its company: one person may administer several companies, and no company learns of the
 * others. Who signs in is looked for by e-mail address in all companies. A session waits until its company is chosen, when
 * an address and a password open several accounts.
 */
export const accounts: Migration = {
  name: '0011-accounts',
  statements: () => [
    'DROP INDEX administrators_email',
    'CREATE UNIQUE INDEX administrators_email ON administrators (company, email) WHERE disabled_at IS NULL',
    'CREATE INDEX administrators_sign_in ON administrators (email, id) WHERE disabled_at IS NULL',
    'ALTER TABLE portal_sessions ADD COLUMN is_waiting INTEGER NOT NULL DEFAULT 0 CHECK (is_waiting IN (0, 1))',
  ],
};
