import type { Migration } from './migration.ts';

/**
 * The second factor of an administrator: its sealed secret, the time step of the last code that was taken, and digests of
 * the recovery codes that are left. A company may require one of all its administrators. A session keeps the time of the
 * last proof that it is its owner's.
 */
export const secondFactor: Migration = {
  name: '0020-second-factor',
  statements: ({ text }) => [
    `ALTER TABLE administrators ADD COLUMN second_factor ${text}`,
    'ALTER TABLE administrators ADD COLUMN second_factor_step INTEGER',
    `ALTER TABLE administrators ADD COLUMN recovery_codes ${text}`,
    `ALTER TABLE portal_sessions ADD COLUMN proved_at ${text} NOT NULL DEFAULT ''`,
    'ALTER TABLE companies ADD COLUMN second_factor_required INTEGER NOT NULL DEFAULT 0 CHECK (second_factor_required IN (0, 1))',
  ],
};
