import type { Migration } from './migration.ts';

/**
 * Ids of changes are forgotten after a while, those of earlier versions (null) so long after a purge has found them. The rows
 * of an erased company may be gone long before SQLite's file is written anew. On PostgreSQL only the owner changes what the
 * audit trail says: a function of the owner removes what is too old, and whoever migrates takes other roles the right to.
 */
export const operations: Migration = {
  name: '0012-operations',
  statements: ({ name, text }) => [
    `ALTER TABLE applied_changes ADD COLUMN applied_at ${text}`,
    'CREATE INDEX applied_changes_age ON applied_changes (applied_at)',
    `ALTER TABLE erasures ADD COLUMN rows_gone_at ${text}`,
    ...(name === 'sqlite' ? [] : auditOnPostgres),
  ],
};

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
