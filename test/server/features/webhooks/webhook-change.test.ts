import { subscribableKinds } from '../../../../src/contract/events.ts';
import { listAuditRows } from '../../../../src/server/store/accounts/audit-trail.ts';
import { listWebhookRows } from '../../../../src/server/features/webhooks/stored-webhooks.ts';
import { STORY_NOW } from '../../../_server.ts';
import { COMPANY, onSqlite } from '../../portal/_portal.ts';
import { addHistory } from './_history.ts';
import { addWebhook } from './_registered.ts';

const URL_GIVEN = 'https://hooks.example.com/in';

onSqlite('the events and the description of a webhook are changed', async (t, portal) => {
  const { engine } = portal;
  const visitor = await portal.signedIn();
  const checked = () => [...visitor.shown.matchAll(/value="([a-z_.]+)"\s+checked/g)].map(([, kind]) => kind);
  await visitor.visit('/portal/webhooks/new');
  const typed = { url: URL_GIVEN, description: ' Stock system ' };
  await visitor.submit('/portal/webhooks', { ...typed, events: 'job.created', tick: 'all' });
  t.strictSame(checked(), subscribableKinds);
  t.match(visitor.shown, /value=" Stock system "/, 'and what was typed is kept');
  await visitor.submit('/portal/webhooks', { ...typed, tick: 'none' });
  t.strictSame(checked(), []);
  t.strictSame(await listWebhookRows(engine, COMPANY), [], 'nothing is registered by that');
  await visitor.submitAndFollow('/portal/webhooks', { ...typed, events: ['job.created', 'quote.accepted'] });
  const [{ id, description } = { id: '', description: '' }] = await listWebhookRows(engine, COMPANY);
  t.equal(description, 'Stock system');
  t.match(await visitor.read('/portal/webhooks'), /Stock system https:\/\/hooks\.example\.com\/in /);
  const path = `/portal/webhooks/${id}/change`;
  t.match(await visitor.read(path), /Change Stock system/);
  t.strictSame(checked(), ['job.created', 'quote.accepted']);
  t.match(await visitor.refused(path, { description: 'x\u202e' }), /has an invisible character, U\+202E/);
  t.match(visitor.text, /at least one event/, 'both are told at once');
  await visitor.submit(path, { description: 'Ledger', tick: 'none' });
  t.strictSame(checked(), []);
  t.match(
    await visitor.act(path, { description: 'Ledger', events: ['job.created', 'job.updated'] }),
    /is changed/,
  );
  await visitor.visit(path);
  await visitor.submitAndFollow(path, { description: 'Ledger', events: ['job.updated', 'job.created'] });
  const [changed] = await listWebhookRows(engine, COMPANY);
  t.match(changed, {
    ...{ id, description: 'Ledger', events: ['job.created', 'job.updated'], pastEvents: ['quote.accepted'] },
  });
  const [entry, before] = await listAuditRows(engine, COMPANY, { limit: 2 });
  t.match(entry?.details, { description: 'Ledger', events: 'job.created job.updated' });
  t.match(await visitor.read('/portal/notices'), /A webhook to Stock system was registered/);
  t.equal(before?.action, 'webhook.registered', 'a change of nothing is none');
});

onSqlite('a secret is replaced by a second webhook, and the first ends when told', async (t, portal) => {
  const { engine } = portal;
  const events = ['job.created', 'job.updated'];
  const { id } = await addWebhook(engine, { events });
  const visitor = await portal.signedIn();
  const of = `/portal/webhooks/${id}`;
  await visitor.visit(of);
  const { visitor: limited } = await portal.join({ scopes: ['people:read'], mayInvite: false });
  await limited.visit('/portal');
  t.equal(await limited.force(`${of}/secret`), 422);
  t.match(await visitor.act(`${of}/secret`), /This is the new webhook.*Signing secret whsec_/);
  const [old, added] = await listWebhookRows(engine, COMPANY);
  t.match(added, { url: old?.url, events, replaces: id });
  const next = `/portal/webhooks/${added?.id}`;
  t.equal(await visitor.force(`${of}/secret`), 422);
  t.match(visitor.text, /Replace the secret .*is already being replaced/, 'beside its button');
  t.match(await visitor.read('/portal/webhooks'), /hooks\.\S+ \(new secret\)/);
  await visitor.visit(`${of}/change`);
  t.equal(await visitor.force(`${of}/change`, { description: '', events: 'job.created' }), 422);
  t.match(visitor.text, /Change the webhook with the new secret/, 'whose events would stay');
  t.equal(await visitor.force(`${of}/secret/end`), 422);
  t.match(visitor.text, /This webhook doesn’t replace another/);
  await visitor.visit(next);
  t.equal(await visitor.force(`${next}/secret/end`), 422);
  t.match(visitor.text, /The new webhook has no successful delivery yet/);
  const history = {
    company: COMPANY,
    webhooks: [added?.id ?? ''],
    until: STORY_NOW,
    days: 1,
    failedEvery: 2,
  };
  await addHistory(engine, { ...history, count: 4 });
  await visitor.visit(of);
  t.notMatch(visitor.shown, /secret\/end/, 'the old one doesn’t end itself');
  t.match(await visitor.read(next), /different delivery ids\. Done End the old webhook/);
  t.match(await visitor.act(`${next}/secret/end`), /The old webhook is deleted/);
  t.strictSame(
    (await listWebhookRows(engine, COMPANY)).map((webhook) => webhook.id),
    [added?.id],
  );
  t.match(await visitor.read(next), /Make a new secret/, 'and the next change can begin');
  t.notMatch(visitor.text, /new secret\)/);
});
