import { sql } from 'kysely';

import { UsageError } from '../../../errors.ts';
import type { Administration, SchemaObject } from './administration.ts';

/** The key of the advisory lock on the schema, an arbitrary number. */
const SCHEMA_LOCK = 4_706_174;

export const postgresAdministration: Administration = {
  engine: 'postgres',
  async lockSchema(transaction) {
    await sql`SELECT pg_advisory_xact_lock(${sql.lit(SCHEMA_LOCK)})`.execute(transaction);
  },
  presentTables: `
    SELECT to_regclass('migrations') IS NOT NULL AS has_migrations,
      (SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'migrations'
        ORDER BY tablename LIMIT 1) AS other`,
  /**
   * SQL for all objects that can act on rows or stand in for a table, except those of extensions. Recreating all tables for a
   * comparison would need a superuser, and couldn't be done on a standby.
   */
  schemaObjects: `
  WITH ours AS (SELECT oid, relname, relkind, relrowsecurity FROM pg_class AS c WHERE relnamespace = to_regnamespace(current_schema())
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e'))
  SELECT CASE WHEN relkind IN ('r', 'p') THEN 'table' WHEN relkind = 'f' THEN 'foreign table' ELSE 'view' END AS type,
    relname AS name, CASE WHEN relrowsecurity THEN 'row security' END AS definition
  FROM ours WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
  UNION ALL
  SELECT 'trigger', tgname || ' on ' || relname, pg_get_triggerdef(t.oid, TRUE)
    || CASE tgenabled WHEN 'O' THEN '' ELSE ' switched off or always on' END
  FROM pg_trigger AS t JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal OR tgenabled <> 'O'
  UNION ALL
  SELECT 'rule', rulename || ' on ' || relname, '' FROM pg_rewrite JOIN ours ON ours.oid = ev_class WHERE rulename <> '_RETURN'
  UNION ALL
  SELECT 'policy', polname || ' on ' || relname, '' FROM pg_policy JOIN ours ON ours.oid = polrelid
  UNION ALL
  SELECT 'function', proname, CASE WHEN prosecdef THEN 'SECURITY DEFINER ' ELSE '' END || prosrc
  FROM pg_proc AS p WHERE pronamespace = to_regnamespace(current_schema())
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')`,
  /** Returns what statements make. PostgreSQL stores function bodies verbatim, and formats triggers as our migrations do. */
  objectsMadeBy(statements) {
    const made = new Map<string, SchemaObject>();
    for (const statement of statements) {
      const [, verb, kind, word] =
        /^\s*(CREATE|DROP)(?: UNLOGGED)? (TABLE|TRIGGER|FUNCTION)(?: IF NOT EXISTS)? (\w+)/.exec(statement) ??
        [];
      if (kind === undefined || word === undefined) continue;
      const type = kind.toLowerCase();
      const name = type === 'trigger' ? `${word} on ${/ ON (\w+)/.exec(statement)?.[1]}` : word;
      if (verb === 'DROP') made.delete(`${type} ${name}`);
      else made.set(`${type} ${name}`, { type, name, definition: definitionOf(type, statement) });
    }
    return [...made.values()];
  },
  fileProblems: async () => [],
  /** Refuses a role that can't delete the audit trail along with its company, such as the server's own. */
  async prepareErasure(run) {
    const [row] = await run("SELECT has_table_privilege('audit_entries', 'DELETE') AS may");
    if (row?.may !== true)
      throw new UsageError(
        'This role may not remove entries of the audit trail. Erase the company as the role that owns the tables.',
      );
  },
  async endCompany(transaction, company) {
    // Inserts of rows that refer to the company wait for this lock, and then fail.
    await sql`SELECT id FROM companies WHERE id = ${company} FOR UPDATE`.execute(transaction);
  },
  leavesTraces: false,
  removeTraces: async () => undefined,
};

function definitionOf(type: string, statement: string): string | null {
  if (type !== 'function') return type === 'trigger' ? statement : null;
  const secured = statement.includes('SECURITY DEFINER') ? 'SECURITY DEFINER ' : '';
  return `${secured}${/\$\$(.*)\$\$/s.exec(statement)?.[1]}`;
}
