import { type CompanySettings, setCompany } from '../../../src/server/backoffice/companies.ts';
import type { SubscribableKind } from '../../../src/contract/events.ts';
import { type Module, modules } from '../../../src/contract/scopes.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { events as contractEvents } from '../../contract/_contract.ts';
import { formSave, jobCreate, openStaffedCompany } from './_changes.ts';
import { moveEvents, onEachEngine, onSqlite, readDeliveries, type TestCompany } from './_backoffice.ts';

/** The deliveries of a company as `webhook: event id-of-data`, by webhook and then in their order. */
async function deliveriesTo(engine: Engine, company: TestCompany): Promise<string[]> {
  const ours = (await readDeliveries(engine)).filter(({ body }) => body.companyId === company.id);
  return ours
    .map(({ webhook, body }) => `${webhook}: ${body.event} ${(body.data as { id: string }).id}`)
    .sort();
}

/** A job is made and completed, and a form submitted: every event that needs no invoicing. */
async function work(company: TestCompany): Promise<void> {
  await company.apply(jobCreate({ id: 'job_1' }));
  await company.apply({ change: 'job.complete', with: { id: 'job_1' } });
  await company.apply(formSave({ id: 'frm_1' }));
  await company.apply({ change: 'form.publish', with: { id: 'frm_1' } });
  const submission = { id: 'sub_1', formId: 'frm_1', submittedBy: 'per_1' };
  await company.apply({ change: 'form.submit', with: submission });
}

/* Which webhooks of which company get an event is the model's to say, on both engines (test/model/_comparison.ts). */
onEachEngine('an event', async (t, { openCompany, engine, setNow }) => {
  await t.test('is not kept when no webhook hears of it', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await engine.transaction((transaction) =>
      transaction.updateTable('webhooks').set({ events: '[]' }).where('company', '=', acme.id).execute(),
    );
    await acme.addWebhook('whk_completed', ['job.completed']);
    await work(acme);
    t.strictSame(await deliveriesTo(engine, acme), ['whk_completed: job.completed job_1']);
    const kinds = (await acme.events()).map(({ kind }) => kind);
    t.strictSame(kinds, ['job.completed']);
  });

  await t.test('waits for its first attempt, due at once, also when the clock was set back', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const [later, earlier] = ['2026-11-20T14:00:00.000Z', '2026-11-20T13:00:00.000Z'];
    setNow(later);
    const job = await acme.apply(jobCreate({ id: 'job_1' }));
    setNow(earlier);
    const { updatedAt } = await acme.apply({ change: 'job.update', with: { id: 'job_1', notes: 'Later' } });
    t.ok(updatedAt > later);
    const deliveries = (await readDeliveries(engine)).filter(({ body }) => body.companyId === acme.id);
    const waiting = { state: 'waiting', attemptCount: 0, body: { id: /^dlv_[0-9a-f]{8}-[0-9a-f]{4}-7/ } };
    t.match(deliveries, [waiting, waiting]);
    const dueAt = deliveries.map((delivery) => [delivery.dueAt, delivery.body.createdAt]);
    t.strictSame(dueAt.flat(), [job.updatedAt, job.updatedAt, earlier, updatedAt]);
  });
});

onSqlite('a webhook hears of an event while the plan has its data', async (t, { openCompany, engine }) => {
  const withoutJobs = { modules: modules.filter((included) => included !== 'jobs') };
  const acme = await openStaffedCompany(openCompany, { ...withoutJobs, invoicingEnabled: false });
  await work(acme);
  t.strictSame(await deliveriesTo(engine, acme), ['whk_all: form.submitted sub_1']);
  await setCompany(engine, acme.id, { modules: [...modules] });
  const { id } = await acme.apply(jobCreate());
  t.ok((await deliveriesTo(engine, acme)).includes(`whk_all: job.created ${id}`));
});

/** The scopes that webhooks.yaml gives the kinds. */
const scopeOf = new Map(contractEvents.map((event) => [event.kind, event['x-scope']]));

onEachEngine('the fan-out', async (t, { openCompany, backoffice, engine }) => {
  /** Appends an event of a kind as moves do, and gives the number of its deliveries. */
  async function countDeliveries(company: TestCompany, kind: SubscribableKind): Promise<number> {
    const before = (await readDeliveries(engine)).length;
    const id = `evt_${kind}_${company.id}`;
    await engine.transaction((transaction) =>
      backoffice.appendEvents(
        transaction,
        company.id,
        [{ id, kind, createdAt: '2026-11-20T12:00:00.000Z', data: '{}' as never }],
        { mintId: () => `dlv_${kind}_${company.id}`, dueAt: '2026-11-20T12:00:00.000Z' },
      ),
    );
    const after = await readDeliveries(engine);
    // The event that was appended here is not of a move; the contract says nothing of its data.
    for (const table of ['deliveries', 'events']) await engine.run(`DELETE FROM ${table}`);
    return after.length - before;
  }

  for (const kind of moveEvents) {
    const scope = scopeOf.get(kind) ?? '';
    const module = scope.slice(0, -':read'.length) as Module;
    const needsInvoicing = ['invoices', 'quotes'].includes(module);
    const others = modules.filter((one) => one !== module);
    await t.test(`of ${kind} asks for ${module}${needsInvoicing ? ' and invoicing' : ''}`, async (t) => {
      const count = async (settings: Partial<CompanySettings>) =>
        countDeliveries(await openCompany(settings), kind);
      t.equal(await count({}), 1);
      t.equal(await count({ modules: [module] }), 1);
      t.equal(await count({ modules: others }), 0);
      t.equal(await count({ invoicingEnabled: false }), needsInvoicing ? 0 : 1);
    });
  }
});
