import type { Migration } from './migration.ts';

/**
 * Rows of a company are found within it, so that a database that is spread over several machines by company finds them
 * on one: an event and its deliveries, and the count of a key's requests. Old events are looked for by their ids, which grow
 * with time. SQLite's events keep their key: there it is unique by itself, and a million events aren't written anew for it.
 */
export const byCompany: Migration = {
  name: '0017-by-company',
  statements: ({ name }) => [
    'DROP INDEX deliveries_of_event',
    'CREATE INDEX deliveries_of_event ON deliveries (company, event)',
    ...(name === 'sqlite' ? [] : onPostgres),
  ],
};

const onPostgres = [
  'ALTER TABLE events DROP CONSTRAINT events_pkey',
  'ALTER TABLE events ADD PRIMARY KEY (company, id)',
  'CREATE INDEX events_age ON events (id)',
  // Processes share the count of each key's requests, which a crash of the database may lose. Each is changed at every request.
  `CREATE UNLOGGED TABLE key_counts (
    company TEXT NOT NULL,
    key_id TEXT NOT NULL,
    points INTEGER NOT NULL,
    expire BIGINT NOT NULL,
    PRIMARY KEY (company, key_id),
    FOREIGN KEY (company, key_id) REFERENCES api_keys (company, id) ON DELETE CASCADE
  ) WITH (fillfactor = 50)`,
  "DELETE FROM rate_counts WHERE key LIKE 'key:%'",
];
