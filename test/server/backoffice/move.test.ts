import { applyChange, applyChangesAtomically } from '../../../src/server/backoffice/apply.ts';
import type { Change } from '../../../src/contract/feed.ts';
import type { Job } from '../../../src/contract/records.ts';
import { customerSave, formSave, jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import {
  inShort,
  onEachEngine,
  onSqlite,
  readDeliveries,
  recordIn,
  refusalOf,
  tablesChangedBy,
} from './_backoffice.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const HOUR = 3_600_000;

const iso = (ms: number) => new Date(ms).toISOString();

onSqlite(
  'a stamp, and times of records, are the service’s own when a change is ahead of it',
  async (t, office) => {
    const { openCompany, setNow } = office;
    const acme = await openStaffedCompany(openCompany);
    setNow(iso(NOON + HOUR));
    const create = (ms: number) => acme.apply({ ...jobCreate(), at: iso(ms) });
    for (const ahead of [-365 * 24 * HOUR, -1, 0, 1, 300_000]) {
      const { createdAt, updatedAt } = await create(NOON + HOUR + ahead);
      t.equal(createdAt, iso(NOON + HOUR + Math.min(ahead, 0)));
      t.ok(updatedAt >= createdAt && updatedAt >= iso(NOON + HOUR), updatedAt);
      t.ok(updatedAt < iso(NOON + HOUR + 1000), 'and not in the future');
    }
    const at = iso(NOON + HOUR + 300_001);
    t.match(await acme.refusal({ ...jobCreate(), at }), {
      code: 'invalid_change',
      path: '/at',
      message: at,
    });
  },
);

/** Times that RFC 3339 allows, as the API reads them in `updatedSince` (src/contract/times.ts). */
const times = {
  '2026-11-20T12:00:00Z': '2026-11-20T12:00:00.000Z',
  '2026-11-20t12:00:00.5z': '2026-11-20T12:00:00.500Z',
  '2026-11-20 12:00:00+02:00': '2026-11-20T10:00:00.000Z',
  '2026-11-20T00:00:00.001-11:30': '2026-11-20T11:30:00.001Z',
  '2026-11-20T12:00:00-00:00': '2026-11-20T12:00:00.000Z',
  '2016-12-31T23:59:60Z': '2017-01-01T00:00:00.000Z',
  '2017-01-01T00:59:60+01:00': '2017-01-01T00:00:00.000Z',
  '0049-01-01 00:00:00Z': '0049-01-01T00:00:00.000Z',
};

onSqlite('a time of the business system', async (t, { openCompany, setNow }) => {
  setNow(iso(NOON + 1000));
  const acme = await openStaffedCompany(openCompany);
  await acme.apply(formSave({ id: 'frm_1' }));
  await acme.apply({ change: 'form.publish', with: { id: 'frm_1' } });
  const submit = (submittedAt: string) =>
    ({ change: 'form.submit', with: { formId: 'frm_1', submittedBy: 'per_1', submittedAt } }) as const;
  for (const [given, utc] of Object.entries(times)) {
    t.equal((await acme.apply({ ...jobCreate(), at: given })).createdAt, utc, given);
    t.equal((await acme.apply(submit(given))).submittedAt, utc, given);
  }

  await t.test('is refused where it is when it is in no year from 1 to 9999', async (t) => {
    for (const given of [
      '0000-01-01T00:00:00+00:01',
      '0000-12-31T23:59:59Z',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:59-00:01',
    ]) {
      t.equal(inShort(await acme.refusal({ ...jobCreate(), at: given })), 'invalid_change /at');
      t.equal(inShort(await acme.refusal(submit(given))), 'invalid_change /with/submittedAt');
    }
  });
});

const ID = /^[a-z]{3}_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

onEachEngine('ids are in the order of what happened, also when the clock goes back', async (t, office) => {
  const { openCompany, setNow, engine } = office;
  const clocks = [0, 0, 0, 0, 0, 0, -HOUR, -HOUR, 1, HOUR];
  const acme = await openStaffedCompany(openCompany);
  await acme.apply(formSave({ id: 'frm_1' }));
  await acme.apply({ change: 'form.publish', with: { id: 'frm_1' } });
  const make = {
    people: personSave(),
    customers: customerSave(),
    forms: formSave(),
    jobs: jobCreate(),
    submissions: { change: 'form.submit', with: { formId: 'frm_1', submittedBy: 'per_1' } },
  } as const;
  for (const [resource, change] of Object.entries(make)) {
    const ids: string[] = [];
    for (const offset of clocks) {
      setNow(iso(NOON + offset));
      ids.push((await acme.apply(change)).id);
    }
    t.strictSame(ids.toSorted(), ids, resource);
    for (const id of ids) t.match(id, ID, 'an id of the service');
  }

  await t.test('those of events and deliveries too', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await acme.addWebhook('whk_second');
    const happened: string[] = [];
    for (const offset of clocks) {
      setNow(iso(NOON + offset));
      const { id } = await acme.apply(jobCreate());
      await acme.apply({ change: 'job.complete', with: { id } });
      happened.push(...['job.created', 'job.updated', 'job.completed'].map((kind) => `${kind} ${id}`));
    }
    const nameOf = (kind: string, data: unknown) => `${kind} ${(data as { id: string }).id}`;
    const events = await acme.events();
    const told = events.map(({ kind, data }) => nameOf(kind, data));
    t.strictSame(told, happened);
    for (const webhook of ['whk_all', 'whk_second']) {
      const ours = (await readDeliveries(engine)).filter(
        (delivery) => delivery.webhook === webhook && delivery.body.companyId === acme.id,
      );
      const sent = ours.map(({ body }) => nameOf(body.event, body.data));
      t.strictSame(sent, happened);
    }
  });
});

onEachEngine('a change with an id', async (t, { openCompany, setNow, backoffice, engine }) => {
  await t.test('is made once, whatever has happened since', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const change: Change = { company: acme.id, id: 'feed/1', ...jobCreate({ id: 'job_1' }), at: iso(NOON) };
    t.equal((await applyChange(backoffice, change)).status, 'applied');
    await acme.apply({ change: 'job.update', with: { id: 'job_1', title: 'Changed' } });
    await acme.apply({ change: 'person.deactivate', with: { id: 'per_1' } });
    for (const now of [NOON, NOON + HOUR, NOON - HOUR]) {
      setNow(iso(now));
      const record = JSON.stringify(await acme.record('jobs', 'job_1'));
      const again = async () =>
        t.strictSame(await applyChange(backoffice, change), { status: 'skipped', record });
      t.strictSame(await tablesChangedBy(engine, again), []);
    }
    setNow(iso(NOON));
  });

  await t.test('is refused when the id was that of a change of another name', async (t) => {
    const acme = await openCompany();
    const id = '\u{1F525} "id" \\ ';
    await acme.apply({ ...personSave(), id });
    const message = `The change with the id ${JSON.stringify(id)} was applied before as person.save, and not customer.save.`;
    const refusal = { code: 'duplicate_id', path: '/id', message };
    t.strictSame(await acme.refusal({ ...customerSave(), id }), refusal);
  });

  await t.test('may be sent again after it was refused', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    const change = { ...jobCreate({ customerId: 'cus_late' }), id: 'feed/7' };
    t.match(await acme.refusal(change), { code: 'unknown_record' });
    t.match(await acme.refusal(change), { code: 'unknown_record' });
    await acme.apply(customerSave({ id: 'cus_late' }));
    t.equal((await acme.apply(change)).customerId, 'cus_late');
  });

  await t.test('is made once when it comes twice in one batch', async (t) => {
    const { id: company } = await openCompany();
    const change: Change = { company, id: 'feed/1', ...personSave({ id: 'per_1' }) };
    const [first, second] = await applyChangesAtomically(backoffice, [change, change]);
    t.strictSame([first?.status, second?.status], ['applied', 'skipped']);
  });
});

onEachEngine('moves', async (t, { openCompany, backoffice, engine }) => {
  await t.test('together are answered one by one, in their order', async (t) => {
    const { id: company } = await openCompany();
    const changes = [personSave({ id: 'per_1' }), customerSave({ id: 'cus_1' }), jobCreate({ id: 'job_1' })];
    const outcomes = await applyChangesAtomically(
      backoffice,
      changes.map((change) => ({ company, ...change })),
    );
    const ids = outcomes.map((outcome) => recordIn<Job>(outcome).id);
    t.strictSame(ids, ['per_1', 'cus_1', 'job_1']);
    t.strictSame(await applyChangesAtomically(backoffice, []), []);
  });

  await t.test('together are all made, with their events, or none is', async (t) => {
    const { id: company } = await openStaffedCompany(openCompany);
    const { id: second } = await openStaffedCompany(openCompany);
    const good = [
      { company, id: 'feed/1', ...jobCreate({ id: 'job_1' }) },
      { company, change: 'job.complete', with: { id: 'job_1' } },
      { company: second, ...jobCreate() },
      { company, change: 'person.deactivate', with: { id: 'per_2' } },
    ] as Change[];
    for (const [bad, code] of [
      [{ company, change: 'job.complete', with: { id: 'job_1' } }, 'wrong_state'],
      [{ company, id: 'feed/1', ...personSave() }, 'duplicate_id'],
      [{ company: 'nobody', ...personSave() }, 'unknown_company'],
      [{ company, ...jobCreate({ title: '' }) }, 'invalid_change'],
    ] as const) {
      const refused = () =>
        t.rejects(applyChangesAtomically(backoffice, [...good, bad]), { name: 'Refusal', code });
      t.strictSame(await tablesChangedBy(engine, refused), []);
    }
    const changed = await tablesChangedBy(engine, () => applyChangesAtomically(backoffice, good));
    const tables = ['applied_changes', 'company_clocks', 'deliveries', 'events', 'jobs', 'people'];
    t.strictSame(changed.sort(), tables, 'the good ones can be made');
  });

  await t.test('that send nothing leave their record alone', async (t) => {
    const acme = await openCompany();
    const save = () => acme.apply(personSave({ id: 'per_9' }));
    t.strictSame(await tablesChangedBy(engine, save), ['people']);
  });

  await t.test('leave nothing when they fail after their records were written', async (t) => {
    const { id: company } = await openStaffedCompany(openCompany);
    const full = new Error('The disk is full.');
    const broken = { ...backoffice, appendEvents: () => Promise.reject(full) };
    const create = async () => {
      await t.rejects(applyChange(broken, { company, id: 'feed/1', ...jobCreate() }), full);
    };
    t.strictSame(await tablesChangedBy(engine, create), []);
    t.equal((await applyChange(backoffice, { company, id: 'feed/1', ...jobCreate() })).status, 'applied');
  });

  await t.test('of a company that is not there are refused', async (t) => {
    const message = 'There is no company "nobody".';
    const refusal = { code: 'unknown_company', path: '/company', message };
    t.strictSame(await refusalOf(backoffice, { company: 'nobody', ...personSave() }), refusal);
  });
});
