import { onSqlite } from './_backoffice.ts';
import { openIssuer } from './_documents.ts';

onSqlite('a quote is accepted until the end of its last day, and not later', async (t, office) => {
  const company = await openIssuer(office);
  const draft = { customerId: 'cus_1', title: 'Roof', validUntil: '2026-11-20' };
  const send = async () => {
    const { id } = await company.apply({ change: 'quote.draft', with: draft });
    return company.apply({ change: 'quote.send', with: { id } });
  };
  const [accepted, late] = [await send(), await send()];
  const accept = ({ id }: { id: string }) => ({ change: 'quote.accept' as const, with: { id } });
  office.setNow('2026-11-20T23:59:59.999Z');
  t.match(await company.apply(accept(accepted)), { status: 'accepted' });
  office.setNow('2026-11-21T00:00:00.000Z');
  t.match(await company.refusal(accept(late)), { code: 'wrong_state', message: /is expired/ });
});
