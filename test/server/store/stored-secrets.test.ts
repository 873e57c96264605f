import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { writeRow } from '../../../src/server/store/tables/table.ts';
import { webhooks } from '../../../src/server/store/tables/webhooks.ts';
import {
  replaceStoredSecret,
  type StoredSecret,
  storedSecrets,
} from '../../../src/server/store/stored-secrets.ts';
import { STORY_NOW } from '../../_server.ts';
import { onEachStore } from './_stores.ts';

onEachStore('stored secrets are listed, and replaced while they are the same', async (t, { engine }) => {
  const all = ['a', 'a-b', 'b'].flatMap((company) =>
    ['whk_1', 'whk_2'].map((id) => ({
      table: 'webhooks' as const,
      company,
      id,
      secret: `whsec_${company}_${id}`,
    })),
  );
  for (const { company, id, secret } of all) {
    if (id === 'whk_1') await createCompany(engine, company, {}, STORY_NOW);
    const of = { company, id, url: 'https://a.com/', events: [], madeBy: null };
    const webhook = { ...of, createdAt: STORY_NOW.toISOString() };
    const row = { ...writeRow(webhooks, webhook), secret };
    await engine.transaction((transaction) => transaction.insertInto('webhooks').values(row).execute());
  }
  const listed = async () => {
    const found: StoredSecret[] = [];
    for await (const stored of storedSecrets(engine.db)) found.push(stored);
    return found;
  };
  t.strictSame(await listed(), all);
  const [first, second, ...others] = all;
  if (!first || !second) throw new Error('There are no secrets.');
  await replaceStoredSecret(engine, first, 'sealed');
  await replaceStoredSecret(engine, { ...second, secret: 'what it was before' }, 'sealed');
  t.strictSame(await listed(), [{ ...first, secret: 'sealed' }, second, ...others]);
});
