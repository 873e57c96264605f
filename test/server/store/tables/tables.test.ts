import t from 'tap';

import {
  type Column,
  type EngineName,
  readRow,
  writeRow,
} from '../../../../src/server/store/tables/table.ts';
import { apiKeys, feedTokens } from '../../../../src/server/store/tables/keys.ts';
import { allTables } from '../../../../src/server/store/tables/tables.ts';
import { onEachStore } from '../_stores.ts';

/** A column as a database tells of it: whether it may be null, and whether it is computed. */
interface Told {
  name: string;
  nullable: number | boolean;
  computed: number | boolean;
}

const COLUMNS: Record<EngineName, (table: string) => string> = {
  sqlite: (table) => `
    SELECT name, "notnull" = 0 AS nullable, hidden > 0 AS computed FROM pragma_table_xinfo('${table}') ORDER BY cid`,
  postgres: (table) => `
    SELECT column_name AS name, is_nullable = 'YES' AS nullable, is_generated = 'ALWAYS' AS computed
    FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = '${table}' ORDER BY ordinal_position`,
};

function defined([name, column]: [string, Column]): Told {
  const isNullable = !column.constraints(name, 'sqlite').includes('NOT NULL');
  return { name, nullable: isNullable, computed: column.isComputed };
}

onEachStore('the tables of a database are those that are defined', async (t, { name, engine }) => {
  for (const { name: table, columns, isCounter } of allTables) {
    const told = await engine.run(COLUMNS[name](table));
    const found = told.map((column) => ({
      name: column.name,
      nullable: Boolean(column.nullable),
      computed: Boolean(column.computed),
    }));
    const isMissing = isCounter === true && name === 'sqlite';
    t.strictSame(found, isMissing ? [] : Object.entries(columns).map(defined), table);
  }
});

t.test('a row is read without its secrets, and written as it was', (t) => {
  const row = {
    ...{ company: 'acme', id: 'k', name: 'Sync', secret_sha256: 'digest', scopes: '["jobs:read"]' },
    ...{ created_at: 'now', revoked_at: null, ends_at: null, made_by: null },
  };
  const key = readRow(apiKeys, row);
  t.strictSame(key, {
    ...{ company: 'acme', id: 'k', name: 'Sync', scopes: ['jobs:read'] },
    ...{ createdAt: 'now', revokedAt: null, endsAt: null, madeBy: null },
  });
  t.strictSame({ ...writeRow(apiKeys, key), secret_sha256: 'digest' }, row);
  const token = { forAllCompanies: true, changes: null, portalScopes: ['jobs:read' as const], of: 'nobody' };
  const written = { for_all_companies: 1, changes: null, portal_scopes: '["jobs:read"]' };
  t.strictSame(writeRow(feedTokens, token), written, 'what has no column is left out');
  t.strictSame(readRow(feedTokens, { ...written, used: 1 }), {
    ...{ forAllCompanies: true, changes: null, portalScopes: ['jobs:read'] },
  });
  t.end();
});
