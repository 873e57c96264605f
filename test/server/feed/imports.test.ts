import t from 'tap';

import { openTestDatabase } from '../../_server.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';
import { invoiceImport, openImporter } from '../backoffice/_imports.ts';
import { openDoor, tokenFor } from './_door.ts';

t.test('imports that follow each other come into companies of their token alone', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const testBackoffice = createTestBackoffice(database);
  const [own, other] = [await openImporter(testBackoffice), await openImporter(testBackoffice)];
  const { token } = await tokenFor(database.engine, { companies: [own.id] });
  await using door = await openDoor(database.engine, token);
  const importsInto = (company: string) =>
    ['RE-1', 'RE-2'].map((number) => ({ id: number, company, ...invoiceImport({ number }) }));
  t.strictSame(await door.apply(importsInto(other.id)), [
    '1 RE-1 unknown_company /company',
    '2 RE-2 unknown_company /company',
  ]);
  t.strictSame(await door.apply(importsInto(own.id)), ['1 RE-1 applied', '2 RE-2 applied']);
});
