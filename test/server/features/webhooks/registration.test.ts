import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { subscribableKinds } from '../../../../src/contract/events.ts';
import type { Scope } from '../../../../src/contract/scopes.ts';
import { UsageError } from '../../../../src/errors.ts';
import { listAuditRows } from '../../../../src/server/store/accounts/audit-trail.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { ping, recover, resend } from '../../../../src/server/features/webhooks/deliveries/deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  pauseWebhook,
  resumeWebhook,
  WEBHOOKS_MAX,
} from '../../../../src/server/features/webhooks/registration.ts';
import { createSecretBox } from '../../../../src/server/process/secret-box.ts';
import { openTestDatabase, STORY_NOW } from '../../../_server.ts';
import { jobCreate, openStaffedCompany } from '../../backoffice/_changes.ts';
import { onEachEngine, readDeliveries } from '../../backoffice/_backoffice.ts';
import { addAdministrator, signedInAs } from '../../portal/_portal.ts';
import { attemptAtOnce, onEachStore } from '../../store/_stores.ts';

type Options = Parameters<typeof createWebhook>[2];

const LATER = new Date(STORY_NOW.getTime() + 60_000);
const box = createSecretBox(Buffer.alloc(32, 7).toString('base64'));

function register(engine: Engine, company: string, given: Partial<Options> = {}) {
  const url = 'https://hooks.example.com/in';
  return createWebhook(engine, box, { company, url, events: ['job.created'], now: STORY_NOW, ...given });
}

async function refusalOf(act: Promise<unknown>): Promise<string> {
  try {
    await act;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('It was not refused.');
}

async function storedSecret(engine: Engine, id: string): Promise<string> {
  const query = engine.db.selectFrom('webhooks').select('secret').where('id', '=', id);
  return (await query.executeTakeFirstOrThrow()).secret;
}

const registerMany = (engines: readonly Engine[], company: string, count: number) =>
  attemptAtOnce(engines, count, async (engine) => (await register(engine, company)).record);

onEachStore('a webhook is listed, and deleted, by its own company alone', async (t, { engine }) => {
  for (const company of ['acme', 'other']) await createCompany(engine, company, {}, STORY_NOW);
  const { secret, record } = await register(engine, 'acme', {
    url: 'HTTPS://Hooks.Example.com:443',
    events: ['quote.accepted', 'job.created', 'quote.accepted'],
  });
  t.match(record.id, /^whk_[0-9a-f]{12}$/);
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.strictSame(
    record,
    {
      ...{ id: record.id, company: 'acme', url: 'https://hooks.example.com/' },
      ...{ events: ['job.created', 'quote.accepted'], madeBy: null },
      ...{ description: '', pastEvents: [], replaces: null },
      ...{ createdAt: STORY_NOW.toISOString(), pausedAt: null, failingSince: null, isFailing: false },
    },
    'with its canonical address, and each event once in the order of the contract',
  );
  t.strictSame(await listWebhooks(engine, 'acme'), [record], 'and is listed so, without its secret');
  t.equal(box.open(await storedSecret(engine, record.id), record), secret);

  const { record: newer } = await register(engine, 'other', { now: LATER });
  const { record: older } = await register(engine, 'other');
  t.strictSame(await listWebhooks(engine, 'other'), [older, newer], 'from the oldest on');

  const remove = (company: string) => deleteWebhook(engine, company, record.id, LATER);
  const missing = (company: string) => `The company "${company}" has no webhook "${record.id}".`;
  t.equal(await refusalOf(remove('other')), missing('other'));
  t.strictSame(await remove('acme'), record);
  t.strictSame(await listWebhooks(engine, 'acme'), []);
  t.equal(await refusalOf(remove('acme')), missing('acme'));
  t.equal(await refusalOf(remove('nobody')), 'There is no company "nobody".');
});

t.test('a registration that is refused says why, and leaves nothing', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const known = subscribableKinds.join(', ');
  const unknown = (event: string) => `"${event}" is not an event; it takes ${known}.`;
  const meant = (event: string, other: string) => `"${event}" is not an event; did you mean ${other}?`;
  const unseen = (event: string, scope: Scope) => `To choose "${event}" you need ${scope}.`;
  const whoSees = async (...scopes: Scope[]) => {
    const email = `${scopes.length}${scopes[0]?.replace(':', '-')}@acme.example`;
    return signedInAs(engine, await addAdministrator(engine, { company: 'acme', email, scopes }));
  };
  const [twoKinds, people] = [await whoSees('jobs:read', 'quotes:read'), await whoSees('people:read')];
  const refusals: [Partial<Options>, string][] = [
    [{ company: 'nobody' }, 'There is no company "nobody".'],
    [{ events: [] }, 'Choose at least one event.'],
    [{ events: ['job.deleted'] }, unknown('job.deleted')],
    [{ events: ['job.created', ''] }, unknown('')],
    [{ events: ['JOB.CREATED'] }, meant('JOB.CREATED', 'job.created')],
    [{ events: ['credit-note-issue'] }, meant('credit-note-issue', 'credit_note.issued')],
    [{ events: ['toString'] }, unknown('toString')],
    [
      { events: ['job.created', 'ping'] },
      '"ping" can\'t be chosen: every webhook gets it when you send a test.',
    ],
    [{ events: ['job.created', 'invoice.paid'], by: twoKinds }, unseen('invoice.paid', 'invoices:read')],
    [{ by: people }, unseen('job.created', 'jobs:read')],
    [
      { url: 'https://10.0.0.1/' },
      'The webhook\'s address "https://10.0.0.1/" must have a host name and not a numeric address.',
    ],
  ];
  for (const [given, message] of refusals) t.equal(await refusalOf(register(engine, 'acme', given)), message);
  t.equal(await refusalOf(listWebhooks(engine, 'nobody')), 'There is no company "nobody".');
  t.strictSame(await listWebhooks(engine, 'acme'), []);
  const { record } = await register(engine, 'acme', {
    events: ['job.updated'],
    by: await whoSees('jobs:read'),
  });
  t.strictSame(record.events, ['job.updated'], 'and what may be seen can be chosen');
});

onEachStore('of 20 webhooks that are registered at once exactly 10 are', async (t, { engine, url }) => {
  await using otherHandle = await openEngine(url);
  for (const engines of [[engine], [engine, otherHandle]]) {
    const company = `with-${engines.length}`;
    await createCompany(engine, company, {}, STORY_NOW);
    await createCompany(engine, `${company}-neighbour`, {}, STORY_NOW);
    const [{ created, refusals }, neighbour] = await Promise.all([
      registerMany(engines, company, 20),
      registerMany(engines, `${company}-neighbour`, 3),
    ]);
    t.equal(created.length, WEBHOOKS_MAX, company);
    const message = `The company already has 10 webhooks, the most it can have. Delete one first.`;
    t.strictSame(
      refusals.map((refusal) => refusal.message),
      Array(10).fill(message),
    );
    t.equal(neighbour.created.length, 3, 'another company is not affected');
    t.equal((await listWebhooks(engine, company)).length, 10);

    const [first, second] = created;
    if (!first || !second) throw new Error('No webhooks.');
    const deletions = [first, first, second].map(({ id }) => deleteWebhook(engine, company, id, LATER));
    const outcomes = (await Promise.allSettled(deletions)).map(({ status }) => status).sort();
    t.strictSame(outcomes, ['fulfilled', 'fulfilled', 'rejected'], 'of two deletions one is refused');
    t.equal((await registerMany(engines, company, 5)).created.length, 2, 'and each frees one place');
  }
});

onEachEngine('a webhook hears of what happens until it is deleted', async (t, { engine, openCompany }) => {
  const acme = await openStaffedCompany(openCompany);
  await acme.apply(jobCreate());
  const { record } = await register(engine, acme.id, { events: ['job.created'] });
  const heardBy = async (id: string) =>
    (await readDeliveries(engine)).filter(({ webhook }) => webhook === id).length;
  t.equal(await heardBy(record.id), 0);
  await acme.apply(jobCreate());
  t.equal(await heardBy(record.id), 1);
  await Promise.all([
    ...Array.from({ length: 5 }, () => acme.apply(jobCreate())),
    deleteWebhook(engine, acme.id, record.id, LATER),
    ...Array.from({ length: 5 }, () => acme.apply(jobCreate())),
  ]);
  const last = await heardBy(record.id);
  await acme.apply(jobCreate());
  t.equal(await heardBy(record.id), last);
  t.equal(await heardBy('whk_all'), 13, 'and the others hear of everything');
});

onEachStore('the audit trail tells what was done to a webhook', async (t, { engine }) => {
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const aoife = await addAdministrator(engine, { company: 'acme', email: 'a@a.example' });
  const by = await signedInAs(engine, aoife);
  await engine.run('DELETE FROM audit_entries');
  const { record } = await register(engine, 'acme', {
    url: 'https://hooks.example.com/in?token=secret-of-the-receiver',
    events: ['job.created', 'form.submitted'],
    description: 'Stock',
    by,
  });
  const of = { company: 'acme', webhook: record.id };
  const pinged = await ping(engine, of, { now: STORY_NOW, by });
  const again = (attemptCount: number) =>
    resend(engine, { ...of, id: pinged }, STORY_NOW, { by, attemptCount });
  t.equal(await again(0), 'changed', 'it waits already');
  await engine.run("UPDATE deliveries SET state = 'failed', attempt_count = 7");
  t.equal(await again(6), 'changed', 'there was another');
  t.equal(await again(7), 'waiting');
  t.equal(await again(7), 'changed', 'a second time');
  await engine.run("UPDATE deliveries SET state = 'failed'");
  t.equal(await recover(engine, of, { from: STORY_NOW }, STORY_NOW, { by }), 1);
  for (let times = 0; times < 2; times += 1) await pauseWebhook(engine, 'acme', record.id, STORY_NOW, by);
  for (let times = 0; times < 2; times += 1) await resumeWebhook(engine, 'acme', record.id, STORY_NOW);
  await deleteWebhook(engine, 'acme', record.id, STORY_NOW, by);
  const webhook = { webhook: record.id };
  const named = { ...webhook, host: 'hooks.example.com', name: 'Stock' };
  const done: [action: string, subject: string, details: object][] = [
    ['webhook.registered', record.id, { ...named, events: 'job.created form.submitted' }],
    ['webhook.pinged', record.id, webhook],
    ['delivery.sent_again', pinged, { ...webhook, delivery: pinged }],
    [
      'deliveries.recovered',
      record.id,
      { ...webhook, since: STORY_NOW.toISOString(), until: STORY_NOW.toISOString() },
    ],
    ['webhook.paused', record.id, named],
    ['webhook.resumed', record.id, named],
    ['webhook.deleted', record.id, named],
  ];
  const rows = (await listAuditRows(engine, 'acme', { limit: 100 })).reverse();
  t.strictSame(
    rows.map(({ action, subject, details }) => [action, subject, details]),
    done,
  );
  t.strictSame(
    rows.map(({ administrator, address, client }) => [administrator, address, client]),
    // It was resumed by a command.
    done.map(([action]) =>
      action === 'webhook.resumed' ? [null, null, null] : [aoife.id, '192.0.2.1', 'Test'],
    ),
    'each says from where, but for the command line',
  );
});
