import { applyChange, applyTogether } from '../../../src/server/backoffice/apply.ts';
import type { Change } from '../../../src/contract/feed.ts';
import type { TestBackoffice } from './_backoffice.ts';
import { customerSave, formSave, jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import { onEachEngine, readDeliveries, refusalOf, tablesChangedBy } from './_backoffice.ts';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');
const HOUR = 3_600_000;

const iso = (ms: number) => new Date(ms).toISOString();

onEachEngine('a stamp', async (t, { openCompany, setNow }) => {
  await t.test('is now, or a millisecond after the last one, whichever is later', async (t) => {
    const acme = await openCompany();
    const clocks = [0, 0, 0, -HOUR, -HOUR, 1, 2, 3, HOUR, HOUR - 1, HOUR + 1, -24 * HOUR, HOUR + 60_000];
    let last = 0;
    for (const [index, offset] of [...clocks, ...clocks.toReversed()].entries()) {
      setNow(iso(NOON + offset));
      const { updatedAt } = await acme.apply(customerSave({ id: 'cus_1', name: `Name ${index}` }));
      t.equal(updatedAt, iso(Math.max(NOON + offset, last + 1)));
      last = Date.parse(updatedAt);
    }
  });

  await t.test('of one company is not held up by another company', async (t) => {
    const [acme, other] = [await openCompany(), await openCompany()];
    setNow(iso(NOON + HOUR));
    await acme.apply(customerSave({ id: 'cus_1' }));
    setNow(iso(NOON));
    t.equal((await other.apply(customerSave({ id: 'cus_1' }))).updatedAt, iso(NOON));
    t.equal((await acme.apply(customerSave({ id: 'cus_2' }))).updatedAt, iso(NOON + HOUR + 1));
  });

  await t.test(
    'and the times of the record are the service’s own when the change is a little ahead of the clock',
    async (t) => {
      const acme = await openStaffedCompany(openCompany);
      setNow(iso(NOON + HOUR));
      const create = (ms: number) => acme.apply({ ...jobCreate(), at: iso(ms) });
      for (const ahead of [-365 * 24 * HOUR, -1, 0, 1, 300_000]) {
        const { createdAt, updatedAt } = await create(NOON + HOUR + ahead);
        t.equal(createdAt, iso(NOON + HOUR + Math.min(ahead, 0)));
        t.ok(updatedAt >= createdAt && updatedAt >= iso(NOON + HOUR), updatedAt);
        t.ok(updatedAt < iso(NOON + HOUR + 1000), 'and not in the future');
      }
      t.match(await acme.refusal({ ...jobCreate(), at: iso(NOON + HOUR + 300_001) }), {
        code: 'invalid_change',
        path: '/at',
        message: iso(NOON + HOUR + 300_001),
      });
    },
  );
});

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

onEachEngine('a time of the business system', async (t, { openCompany, setNow }) => {
  setNow(iso(NOON + 1000));
  const acme = await openStaffedCompany(openCompany);
  await acme.apply(formSave({ id: 'frm_1' }));
  await acme.apply({ change: 'form.publish', with: { id: 'frm_1' } });
  const submit = { change: 'form.submit', with: { formId: 'frm_1', submittedBy: 'per_1' } } as const;
  for (const [given, utc] of Object.entries(times)) {
    await t.test(`${given} is ${utc}`, async (t) => {
      t.equal((await acme.apply({ ...jobCreate(), at: given })).createdAt, utc);
      const { submittedAt } = await acme.apply({ ...submit, with: { ...submit.with, submittedAt: given } });
      t.equal(submittedAt, utc);
    });
  }

  await t.test('is refused where it is when it is in no year from 1 to 9999', async (t) => {
    for (const given of [
      '0000-01-01T00:00:00+00:01',
      '0000-12-31T23:59:59Z',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:59-00:01',
    ]) {
      t.match(await acme.refusal({ ...jobCreate(), at: given }), { code: 'invalid_change', path: '/at' });
      const late = { ...submit, with: { ...submit.with, submittedAt: given } };
      t.match(await acme.refusal(late), { code: 'invalid_change', path: '/with/submittedAt' });
    }
  });
});

onEachEngine('the ids that are given to records', async (t, { openCompany, setNow, engine }) => {
  const clocks = [0, 0, 0, 0, 0, 0, -HOUR, -HOUR, 1, HOUR];
  const make = {
    people: personSave(),
    customers: customerSave(),
    forms: formSave(),
    jobs: jobCreate(),
    submissions: { change: 'form.submit', with: { formId: 'frm_1', submittedBy: 'per_1' } },
  } as const;
  for (const [resource, change] of Object.entries(make)) {
    await t.test(
      `are in the order in which the ${resource} were made, also when the clock goes back`,
      async (t) => {
        setNow(iso(NOON));
        const acme = await openStaffedCompany(openCompany);
        await acme.apply(formSave({ id: 'frm_1' }));
        await acme.apply({ change: 'form.publish', with: { id: 'frm_1' } });
        const ids: string[] = [];
        for (const offset of clocks) {
          setNow(iso(NOON + offset));
          ids.push((await acme.apply(change)).id);
        }
        t.strictSame(ids.toSorted(), ids);
      },
    );
  }

  await t.test('of events and deliveries are in the order in which they happened', async (t) => {
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
    t.strictSame(
      (await acme.events()).map(({ kind, data }) => nameOf(kind, data)),
      happened,
    );
    for (const webhook of ['whk_all', 'whk_second']) {
      const ours = (await readDeliveries(engine)).filter(
        (delivery) => delivery.webhook === webhook && delivery.body.companyId === acme.id,
      );
      t.strictSame(
        ours.map(({ body }) => nameOf(body.event, body.data)),
        happened,
      );
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

  await t.test('is no other company’s change of that id', async (t) => {
    for (const company of [await openCompany(), await openCompany()]) {
      t.equal((await company.apply({ ...personSave({ id: 'per_1' }), id: 'feed/1' })).id, 'per_1');
    }
  });

  await t.test('is refused when the id was that of a change of another name', async (t) => {
    const acme = await openCompany();
    await acme.apply({ ...personSave(), id: '\u{1F525} "id" \\ ' });
    t.strictSame(await acme.refusal({ ...customerSave(), id: '\u{1F525} "id" \\ ' }), {
      code: 'duplicate_id',
      path: '/id',
      message:
        'The change with the id "\u{1F525} \\"id\\" \\\\ " was applied before as person.save, and not customer.save.',
    });
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
    const outcomes = await applyTogether(backoffice, [change, change]);
    t.strictSame(
      outcomes.map(({ status }) => status),
      ['applied', 'skipped'],
    );
  });
});

/** Applies many changes together and gives what it was refused for. */
async function refusalTogether({ backoffice, engine }: TestBackoffice, changes: readonly object[]) {
  let error: unknown;
  const changed = await tablesChangedBy(engine, async () => {
    // A bad change has no type.
    await applyTogether(backoffice, changes as Change[]).catch((thrown: unknown) => {
      error = thrown;
    });
  });
  return { error, changed };
}

onEachEngine('moves', async (t, testBackoffice) => {
  const { openCompany, backoffice, engine } = testBackoffice;

  await t.test('together are answered one by one, in their order', async (t) => {
    const { id: company } = await openCompany();
    const changes = [personSave({ id: 'per_1' }), customerSave({ id: 'cus_1' }), jobCreate({ id: 'job_1' })];
    const outcomes = await applyTogether(
      backoffice,
      changes.map((change) => ({ company, ...change })),
    );
    const ids = outcomes.map((outcome) =>
      outcome.status === 'applied' ? (JSON.parse(outcome.record ?? '') as { id: string }).id : undefined,
    );
    t.strictSame(ids, ['per_1', 'cus_1', 'job_1']);
    t.strictSame(await applyTogether(backoffice, []), []);
  });

  await t.test('together are all made, or none is', async (t) => {
    const { id: company } = await openStaffedCompany(openCompany);
    const { id: second } = await openStaffedCompany(openCompany);
    const good = [
      { company, id: 'feed/1', ...jobCreate({ id: 'job_1' }) },
      { company, change: 'job.complete', with: { id: 'job_1' } },
      { company: second, ...jobCreate() },
      { company, change: 'person.deactivate', with: { id: 'per_2' } },
    ];
    for (const [bad, code] of [
      [{ company, change: 'job.complete', with: { id: 'job_1' } }, 'wrong_state'],
      [{ company, id: 'feed/1', ...personSave() }, 'duplicate_id'],
      [{ company: 'nobody', ...personSave() }, 'unknown_company'],
      [{ company, ...jobCreate({ title: '' }) }, 'invalid_change'],
    ] as const) {
      const { error, changed } = await refusalTogether(testBackoffice, [...good, bad]);
      t.match(error, { name: 'Refusal', code });
      t.strictSame(changed, []);
    }
    t.equal((await refusalTogether(testBackoffice, good)).error, undefined, 'the good ones can be made');
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
    t.strictSame(await refusalOf(backoffice, { company: 'nobody', ...personSave() }), {
      code: 'unknown_company',
      path: '/company',
      message: 'There is no company "nobody".',
    });
  });
});
