import t from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { moveEventKinds } from '../../../src/contract/events.ts';
import type { Scope } from '../../../src/contract/scopes.ts';
import { UsageError } from '../../../src/errors.ts';
import { listAuditRows } from '../../../src/server/store/accounts/audit-trail.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { ping, recover, resend } from '../../../src/server/webhooks/deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  pauseWebhook,
  resumeWebhook,
  WEBHOOKS_MAX,
} from '../../../src/server/webhooks/registration.ts';
import { createSecretBox } from '../../../src/server/secret-box.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../../_server.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';
import { createTestBackoffice, readDeliveries } from '../backoffice/_backoffice.ts';
import { addAdministrator, signedInAs } from '../portal/_portal.ts';

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

async function registerMany(engines: readonly Engine[], company: string, count: number) {
  const attempts = Array.from({ length: count }, async (_value, index) => {
    const engine = engines[index % engines.length];
    if (!engine) throw new Error('There is no engine.');
    return (await register(engine, company)).record;
  });
  const outcomes = await Promise.allSettled(attempts);
  return {
    created: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    refusals: outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [(outcome.reason as Error).message] : [],
    ),
  };
}

for (const name of engineNames) {
  t.test(`a webhook (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await createCompany(engine, 'acme', {}, STORY_NOW);
    await createCompany(engine, 'other', {}, STORY_NOW);

    await t.test(
      'is kept with its canonical address and each event once, in the order of the contract',
      async (t) => {
        const { secret, record } = await register(engine, 'acme', {
          url: 'HTTPS://Hooks.Example.com:443',
          events: ['quote.accepted', 'job.created', 'quote.accepted'],
        });
        t.match(record.id, /^whk_[0-9a-f]{12}$/);
        t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
        t.strictSame(record, {
          id: record.id,
          company: 'acme',
          url: 'https://hooks.example.com/',
          events: ['job.created', 'quote.accepted'],
          createdAt: STORY_NOW.toISOString(),
          pausedAt: null,
          madeBy: null,
        });
        t.strictSame(await listWebhooks(engine, 'acme'), [record], 'and is listed so, without its secret');
        t.equal(box.open(await storedSecret(engine, record.id), record), secret);
      },
    );

    await t.test('is listed from the oldest on, for its company alone', async (t) => {
      const { record } = await register(engine, 'other', { now: LATER });
      const { record: older } = await register(engine, 'other');
      t.strictSame(await listWebhooks(engine, 'other'), [older, record]);
    });

    await t.test('is gone once it is deleted, and can be deleted by its own company alone', async (t) => {
      const { record } = await register(engine, 'acme');
      const missing = `The company "other" has no webhook "${record.id}".`;
      t.equal(await refusalOf(deleteWebhook(engine, 'other', record.id, LATER)), missing);
      const before = await listWebhooks(engine, 'acme');
      t.strictSame(await deleteWebhook(engine, 'acme', record.id, LATER), record);
      t.strictSame(
        await listWebhooks(engine, 'acme'),
        before.filter(({ id }) => id !== record.id),
      );
      const gone = `The company "acme" has no webhook "${record.id}".`;
      t.equal(await refusalOf(deleteWebhook(engine, 'acme', record.id, LATER)), gone);
      t.equal(
        await refusalOf(deleteWebhook(engine, 'nobody', record.id, LATER)),
        'There is no company "nobody".',
      );
    });
  });

  t.test(`a registration that is refused says why, and leaves nothing (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    await createCompany(engine, 'acme', {}, STORY_NOW);
    const known = moveEventKinds.join(', ');
    const whoSees = async (...scopes: Scope[]) => {
      const email = `${scopes.length}${scopes[0]?.replace(':', '-')}@acme.example`;
      return signedInAs(engine, await addAdministrator(engine, { company: 'acme', email, scopes }));
    };
    const refusals: [Partial<Options>, string][] = [
      [{ company: 'nobody' }, 'There is no company "nobody".'],
      [{ events: [] }, `A webhook needs at least one event of ${known}.`],
      [{ events: ['job.deleted'] }, `"job.deleted" is not an event; it takes ${known}.`],
      [{ events: ['job.created', ''] }, `"" is not an event; it takes ${known}.`],
      [{ events: ['JOB.CREATED'] }, '"JOB.CREATED" is not an event; did you mean job.created?'],
      [
        { events: ['credit-note-issue'] },
        `"credit-note-issue" is not an event; did you mean credit_note.issued?`,
      ],
      [{ events: ['toString'] }, `"toString" is not an event; it takes ${known}.`],
      [
        { events: ['job.created', 'ping'] },
        '"ping" can\'t be chosen: it is sent to any webhook when the test button is pressed.',
      ],
      [
        { events: ['job.created', 'invoice.paid'], by: await whoSees('jobs:read', 'quotes:read') },
        '"invoice.paid" can\'t be chosen without access to its data, which is invoices:read.',
      ],
      [
        { by: await whoSees('people:read') },
        '"job.created" can\'t be chosen without access to its data, which is jobs:read.',
      ],
      [
        { url: 'https://10.0.0.1/' },
        'The webhook\'s address "https://10.0.0.1/" must have a host name and not a numeric address.',
      ],
    ];
    for (const [given, message] of refusals) {
      t.equal(await refusalOf(register(engine, 'acme', given)), message);
    }
    t.equal(await refusalOf(listWebhooks(engine, 'nobody')), 'There is no company "nobody".');
    t.strictSame(await listWebhooks(engine, 'acme'), []);
    const { record } = await register(engine, 'acme', {
      events: ['job.updated'],
      by: await whoSees('jobs:read'),
    });
    t.strictSame(record.events, ['job.updated'], 'and what may be seen can be chosen');
  });

  t.test(`of 20 webhooks that are registered at once exactly 10 are (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    await using otherHandle = await openEngine(database.url);
    const { engine } = database;
    for (const engines of [[engine], [engine, otherHandle]]) {
      const company = `with-${engines.length}`;
      await createCompany(engine, company, {}, STORY_NOW);
      await createCompany(engine, `${company}-neighbour`, {}, STORY_NOW);
      const [{ created, refusals }, neighbour] = await Promise.all([
        registerMany(engines, company, 20),
        registerMany(engines, `${company}-neighbour`, 3),
      ]);
      t.equal(created.length, WEBHOOKS_MAX, company);
      const message = `The company "${company}" has 10 webhooks, which is the limit; delete one first.`;
      t.strictSame(
        refusals,
        Array.from({ length: 10 }, () => message),
      );
      t.equal(neighbour.created.length, 3, 'another company is not affected');
      t.equal((await listWebhooks(engine, company)).length, 10);

      const [first, second] = created;
      if (!first || !second) throw new Error('There are no webhooks.');
      const deletions = [first, first, second].map(({ id }) => deleteWebhook(engine, company, id, LATER));
      const outcomes = (await Promise.allSettled(deletions)).map(({ status }) => status).sort();
      t.strictSame(outcomes, ['fulfilled', 'fulfilled', 'rejected'], 'of two deletions one is refused');
      t.equal((await registerMany(engines, company, 5)).created.length, 2, 'and each frees one place');
    }
  });

  t.test(`a webhook hears of what happens between its registration and its deletion (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
    const { openCompany } = createTestBackoffice(database);
    const acme = await openStaffedCompany(openCompany);
    await acme.apply(jobCreate());
    const { record } = await register(engine, acme.id, { events: ['job.created'] });
    const heard = async () =>
      (await readDeliveries(engine)).filter(({ webhook }) => webhook === record.id).length;
    t.equal(await heard(), 0);
    await acme.apply(jobCreate());
    t.equal(await heard(), 1);
    await Promise.all([
      ...Array.from({ length: 5 }, () => acme.apply(jobCreate())),
      deleteWebhook(engine, acme.id, record.id, LATER),
      ...Array.from({ length: 5 }, () => acme.apply(jobCreate())),
    ]);
    const last = await heard();
    await acme.apply(jobCreate());
    t.equal(await heard(), last);
    const others = (await readDeliveries(engine)).filter(({ webhook }) => webhook === 'whk_all');
    t.equal(others.length, 13, 'and the others hear of everything');
  });
}

for (const name of engineNames) {
  t.test(
    `${name}: the audit trail tells what was done to a webhook, and nothing that changed nothing`,
    async (t) => {
      await using database = await openTestDatabase(name);
      const { engine } = database;
      await createCompany(engine, 'acme', {}, STORY_NOW);
      const by = await signedInAs(
        engine,
        await addAdministrator(engine, { company: 'acme', email: 'a@a.example' }),
      );
      await engine.run('DELETE FROM audit_entries');
      const { record } = await createWebhook(
        engine,
        createSecretBox(Buffer.alloc(32, 7).toString('base64')),
        {
          company: 'acme',
          url: 'https://hooks.example.com/in?token=secret-of-the-receiver',
          events: ['job.created', 'form.submitted'],
          by,
          now: STORY_NOW,
        },
      );
      const of = { company: 'acme', webhook: record.id };
      const pinged = await ping(engine, of, { now: STORY_NOW, by });
      const again = { ...of, id: pinged };
      t.equal(await resend(engine, again, STORY_NOW, { by, attemptCount: 0 }), 'changed', 'it waits already');
      await engine.run("UPDATE deliveries SET state = 'failed', attempt_count = 7");
      t.equal(
        await resend(engine, again, STORY_NOW, { by, attemptCount: 6 }),
        'changed',
        'there was another',
      );
      t.equal(await resend(engine, again, STORY_NOW, { by, attemptCount: 7 }), 'waiting');
      t.equal(await resend(engine, again, STORY_NOW, { by, attemptCount: 7 }), 'changed', 'a second time');
      await engine.run("UPDATE deliveries SET state = 'failed'");
      t.equal(await recover(engine, of, { from: STORY_NOW }, STORY_NOW, { by }), 1);
      for (let times = 0; times < 2; times += 1) await pauseWebhook(engine, 'acme', record.id, STORY_NOW, by);
      for (let times = 0; times < 2; times += 1) await resumeWebhook(engine, 'acme', record.id, STORY_NOW);
      await deleteWebhook(engine, 'acme', record.id, STORY_NOW, by);
      const rows = await listAuditRows(engine, 'acme', { limit: 100 });
      const webhook = { webhook: record.id };
      const named = { ...webhook, host: 'hooks.example.com' };
      const origins = rows.map(({ administrator, address, client }) => [administrator, address, client]);
      t.strictSame(
        origins.toSorted(),
        rows
          .map(({ administrator: id }) => (id === null ? [null, null, null] : [id, '192.0.2.1', 'Test']))
          .toSorted(),
        'each says from where, but for the command line',
      );
      t.strictSame(
        rows
          .reverse()
          .map(({ administrator, action, subject, details }) => [administrator, action, subject, details]),
        [
          [
            by.administrator,
            'webhook.registered',
            record.id,
            { ...named, events: 'job.created form.submitted' },
          ],
          [by.administrator, 'webhook.pinged', record.id, webhook],
          [by.administrator, 'delivery.sent_again', pinged, { ...webhook, delivery: pinged }],
          [
            by.administrator,
            'deliveries.recovered',
            record.id,
            { ...webhook, since: STORY_NOW.toISOString() },
          ],
          [by.administrator, 'webhook.paused', record.id, named],
          [null, 'webhook.resumed', record.id, named],
          [by.administrator, 'webhook.deleted', record.id, named],
        ],
      );
    },
  );
}
