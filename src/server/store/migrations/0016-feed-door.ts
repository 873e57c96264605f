import { keyedTable, type Migration } from './migration.ts';

/**
 * The feed over HTTP: its tokens, how far each source has come, and what each change was about and who sent it, so that a
 * change that is sent again is answered with its record. And documents that a business system has issued: which kinds
 * these are, and numbers that are unique within a kind, because its series may overlap.
 */
export const feedDoor: Migration = {
  name: '0016-feed-door',
  statements: (dialect) => {
    const { name, text, table } = dialect;
    const keyed = keyedTable(dialect);
    return [
      `CREATE TABLE feed_tokens (
        id ${text} NOT NULL PRIMARY KEY,
        name ${text} NOT NULL,
        secret_sha256 ${text} NOT NULL,
        for_all_companies INTEGER NOT NULL,
        changes ${text},
        created_at ${text} NOT NULL,
        revoked_at ${text},
        used_at ${text}
      ) ${table}`,
      `CREATE TABLE feed_token_companies (
        company ${text} NOT NULL,
        token ${text} NOT NULL,
        PRIMARY KEY (company, token)
      ) ${keyed}`,
      'CREATE INDEX feed_token_companies_of ON feed_token_companies (token, company)',
      `CREATE TABLE feed_positions (
        company ${text} NOT NULL REFERENCES companies (id),
        source ${text} NOT NULL,
        sequence ${name === 'sqlite' ? 'INTEGER' : 'BIGINT'} NOT NULL,
        change_id ${text},
        applied_at ${text} NOT NULL,
        PRIMARY KEY (company, source)
      ) ${keyed}`,
      ...['resource', 'record_id', 'token'].map(
        (column) => `ALTER TABLE applied_changes ADD COLUMN ${column} ${text}`,
      ),
      `ALTER TABLE companies ADD COLUMN issued_elsewhere ${text} NOT NULL DEFAULT '[]'`,
      'DROP INDEX invoices_numbered',
      `CREATE UNIQUE INDEX invoices_numbered ON invoices (company, (body ->> 'number'), kind) WHERE status = 'issued'`,
      `CREATE INDEX quotes_numbered ON quotes (company, (body ->> 'number'))`,
    ];
  },
};
