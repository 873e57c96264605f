import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { listAuditRows } from '../../src/store/audit.ts';
import { ping, recover, resend } from '../../src/webhooks/deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  pauseWebhook,
  resumeWebhook,
} from '../../src/webhooks/registration.ts';
import { createSecretBox } from '../../src/webhooks/secrets.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';

const by = { id: 'adm_1', name: 'Aoife' };

for (const name of engineNames) {
  t.test(
    `${name}: the audit trail tells what was done to a webhook, and nothing that changed nothing`,
    async (t) => {
      await using database = await openTestDatabase(name);
      const { engine } = database;
      await createCompany(engine, 'acme', {}, STORY_NOW);
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
      t.equal(
        await recover(engine, of, STORY_NOW, STORY_NOW, { by, kinds: ['job.created'] }),
        0,
        'of other kinds',
      );
      t.equal(await recover(engine, of, STORY_NOW, STORY_NOW, { by, kinds: ['ping'] }), 1);
      for (let times = 0; times < 2; times += 1) await pauseWebhook(engine, 'acme', record.id, STORY_NOW, by);
      for (let times = 0; times < 2; times += 1) await resumeWebhook(engine, 'acme', record.id, STORY_NOW);
      await deleteWebhook(engine, 'acme', record.id, STORY_NOW, by);
      const rows = await listAuditRows(engine, 'acme', { limit: 100 });
      const webhook = { webhook: record.id };
      const named = { ...webhook, host: 'hooks.example.com' };
      t.strictSame(
        rows
          .reverse()
          .map(({ administrator, action, subject, details }) => [administrator, action, subject, details]),
        [
          ['adm_1', 'webhook.registered', record.id, { ...named, events: 'job.created form.submitted' }],
          ['adm_1', 'webhook.pinged', record.id, webhook],
          ['adm_1', 'delivery.sent_again', pinged, { ...webhook, delivery: pinged }],
          ['adm_1', 'deliveries.recovered', record.id, { ...webhook, since: STORY_NOW.toISOString() }],
          ['adm_1', 'webhook.paused', record.id, named],
          [null, 'webhook.resumed', record.id, named],
          ['adm_1', 'webhook.deleted', record.id, named],
        ],
      );
    },
  );
}
