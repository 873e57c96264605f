import type { Migration } from './migration.ts';

/**
 * Rows of a company are found within it, so that a database that is spread over several machines by company finds them
 * on one: an event and its deliveries, the count of a key's requests, and what belongs to an administrator. Old events are looked for by their ids, which grow with time; tokens of versions before 1.1.0 by their digests.
 * SQLite's tables keep their keys: there these are unique by themselves, and a million events aren't written anew for it.
 */
export const byCompany: Migration = {
  name: '0017-by-company',
  statements: ({ name, text }) => [
    'DROP INDEX deliveries_of_event',
    'CREATE INDEX deliveries_of_event ON deliveries (company, event)',
    'CREATE INDEX audit_entries_age ON audit_entries (at)',
    ...['portal_sessions', 'form_results'].map(
      (table) => `ALTER TABLE ${table} ADD COLUMN company ${text} NOT NULL DEFAULT ''`,
    ),
    'UPDATE portal_sessions SET company = (SELECT a.company FROM administrators AS a WHERE a.id = administrator)',
    'UPDATE form_results SET company = (SELECT s.company FROM portal_sessions AS s WHERE s.id = session)',
    ...(name === 'sqlite' ? [] : onPostgres),
  ],
};

const onPostgres = [
  'ALTER TABLE events DROP CONSTRAINT events_pkey',
  'ALTER TABLE events ADD PRIMARY KEY (company, id)',
  'CREATE INDEX events_age ON events (id)',
  // Processes share the count of each key's requests, which a crash of the database may lose. Each is changed at every request.
  `CREATE UNLOGGED TABLE key_counts (
    company TEXT COLLATE "C" NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    points INTEGER NOT NULL,
    expire BIGINT NOT NULL,
    PRIMARY KEY (company, key_id),
    FOREIGN KEY (company, key_id) REFERENCES api_keys (company, id) ON DELETE CASCADE
  ) WITH (fillfactor = 50)`,
  "DELETE FROM rate_counts WHERE key LIKE 'key:%'",
  'ALTER TABLE form_results DROP CONSTRAINT form_results_session_fkey',
  'ALTER TABLE portal_links DROP CONSTRAINT portal_links_administrator_fkey, DROP CONSTRAINT portal_links_id_key',
  'ALTER TABLE portal_sessions DROP CONSTRAINT portal_sessions_administrator_fkey, DROP CONSTRAINT portal_sessions_id_key',
  ...[
    ['administrators', 'company, id'],
    ['portal_sessions', 'company, token_sha256'],
    ['form_results', 'company, session, form'],
    ['portal_links', 'company, token_sha256'],
  ].map(
    ([table, key]) =>
      `ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey, ADD CONSTRAINT ${table}_pkey PRIMARY KEY (${key})`,
  ),
  'DROP INDEX administrators_company, portal_sessions_administrator',
  'CREATE INDEX portal_sessions_administrator ON portal_sessions (company, administrator, created_at)',
  ...['portal_sessions', 'portal_links'].map(
    (table) => `CREATE INDEX ${table}_token ON ${table} (token_sha256)`,
  ),
  'ALTER TABLE portal_sessions ADD UNIQUE (company, id)',
  ...['portal_sessions', 'portal_links'].map(
    (table) =>
      `ALTER TABLE ${table} ADD FOREIGN KEY (company, administrator) REFERENCES administrators (company, id)`,
  ),
  'ALTER TABLE form_results ADD FOREIGN KEY (company, session) REFERENCES portal_sessions (company, id) ON DELETE CASCADE',
];
