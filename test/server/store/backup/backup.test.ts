import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { backUp } from '../../../../src/server/store/backup/backup.ts';
import { openTestDatabase, STORY_NOW } from '../../../_server.ts';

t.test('a backup takes the place of an earlier one, but of no database in use', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  await using source = await openTestDatabase('sqlite');
  await using used = await openTestDatabase('sqlite');
  await createCompany(used.engine, 'acme', {}, STORY_NOW);
  const pathOf = ({ url }: { url: string }) => url.slice('sqlite:'.length);
  const copying = { signal: new AbortController().signal, onProgress: () => undefined };
  const backUpTo = (file: string) => backUp(pathOf(source), file, copying);
  for (let count = 0; count < 2; count += 1) await backUpTo(join(folder, 'backup.db'));
  const before = readFileSync(pathOf(used));
  await t.rejects(backUpTo(pathOf(used)), { message: /already exists and isn't a backup/ });
  t.ok(readFileSync(pathOf(used)).equals(before));
});
