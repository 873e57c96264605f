import t from 'tap';

import { openTestDatabase } from '../../_server.ts';
import { createTestBackoffice } from './_backoffice.ts';
import { openIssuer } from './_documents.ts';

t.test('a quote is accepted until the end of its last day, and not later', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const testBackoffice = createTestBackoffice(database);
  const company = await openIssuer(testBackoffice);
  const draft = { customerId: 'cus_1', title: 'Roof', validUntil: '2026-11-20' };
  const send = async () => {
    const { id } = await company.apply({ change: 'quote.draft', with: draft });
    return company.apply({ change: 'quote.send', with: { id } });
  };
  const [accepted, late] = [await send(), await send()];
  const accept = ({ id }: { id: string }) => ({ change: 'quote.accept' as const, with: { id } });
  testBackoffice.setNow('2026-11-20T23:59:59.999Z');
  t.match(await company.apply(accept(accepted)), { status: 'accepted' });
  testBackoffice.setNow('2026-11-21T00:00:00.000Z');
  t.match(await company.refusal(accept(late)), { code: 'wrong_state', message: /is expired/ });
});
