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
import { addAdministrator, signedInAs } from '../portal/_portal.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';

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
      t.equal(await recover(engine, of, STORY_NOW, STORY_NOW, { by }), 1);
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
