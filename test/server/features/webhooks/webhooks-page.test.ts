import { subscribableKinds } from '../../../../src/contract/events.ts';
import { eventWords, exampleEvents } from '../../../../src/contract/examples.ts';
import { listAuditRows } from '../../../../src/server/store/accounts/audit-trail.ts';
import { listWebhookRows } from '../../../../src/server/features/webhooks/stored-webhooks.ts';
import { changeWebhook } from '../../../../src/server/features/webhooks/registration.ts';
import { ping, waitForAttempt } from '../../../../src/server/features/webhooks/deliveries/deliveries.ts';
import { STORY_NOW } from '../../../_server.ts';
import { answer, scriptedSender, startLoop } from './deliveries/_delivery-loop.ts';
import { addHistory } from './_history.ts';
import { COMPANY, onSqlite } from '../../portal/_portal.ts';
import { addWebhook } from './_registered.ts';

const URL_GIVEN = 'https://hooks.example.com/in';
onSqlite('a webhook is registered, paused, resumed and deleted', async (t, portal) => {
  const { engine } = portal;
  const visitor = await portal.signedIn();
  t.match(await visitor.read('/portal/webhooks'), /No webhooks/);
  await visitor.visit('/portal/webhooks/new');
  const events = ['invoice.paid', 'job.created'];
  await visitor.submitAndFollow('/portal/webhooks', { url: ` ${URL_GIVEN} `, events });
  const secret = /whsec_[A-Za-z0-9+/=]{44}/.exec(visitor.text)?.[0] ?? '';
  t.not(secret, '');
  const [webhook] = await listWebhookRows(engine, COMPANY);
  t.match(webhook, { url: URL_GIVEN, events: ['job.created', 'invoice.paid'] });
  const of = `/portal/webhooks/${webhook?.id}`;
  await visitor.visit(of);
  t.notMatch(visitor.shown, /whsec_/, 'the secret is shown once');
  t.match(visitor.text, /Quiet/);
  t.match(await visitor.act(`${of}/pause`), /The webhook is paused/);
  t.match(await visitor.act(`${of}/resume`), /The webhook is resumed/);
  t.match(await visitor.act(`${of}/delete`), /is deleted.*No webhooks/);
  t.equal((await visitor.visit(of)).statusCode, 404);
  const trail = await listAuditRows(engine, COMPANY, { limit: 4 });
  const by = { administratorName: 'Aoife Brennan', subject: webhook?.id };
  const done = ['deleted', 'resumed', 'paused', 'registered'];
  t.match(
    trail,
    done.map((did) => ({ action: `webhook.${did}`, ...by })),
  );
  t.notMatch(JSON.stringify(trail), secret);
});

onSqlite('the list tells how each webhook is doing', async (t, portal) => {
  const { engine } = portal;
  await addWebhook(engine, { url: 'https://calm.example.com/', events: ['form.submitted'] });
  const { id } = await addWebhook(engine);
  // 10 an hour for two days: of 480 one in 10 failed and one in 20 was tried a second time.
  const options = { company: COMPANY, webhooks: [id], until: STORY_NOW };
  await addHistory(engine, { ...options, count: 480, days: 2, failedEvery: 10, retriedEvery: 20 });
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/webhooks');
  // 24 hours at 10 each, 24 of them failed; 12 more attempts, as many of which failed.
  t.match(visitor.text, /fieldledger Partly failing All events 85\.7% delivered: 36 of 252 attempts failed/);
  t.match(visitor.text, /20 Nov 2026, 11:57 20 Nov 2026, 11:09 No response within 10 seconds\./);
  t.match(visitor.text, /calm\.example\.com \/ Quiet form\.submitted/, 'after those that fail');
  t.match(
    await visitor.read(`/portal/webhooks/${id}`),
    /Attempts of the last 30 days: 432 delivered, 72 failed\. 500 0 22 Oct 2026 20 Nov 2026 delivered failed/,
  );
  t.match(
    visitor.text,
    /20 Nov 2026 108 18 19 Nov 2026 216 36 18 Nov 2026 108 18/,
    'by the days of the company',
  );
});

onSqlite('events whose data an administrator may not see', async (t, portal) => {
  const { engine } = portal;
  const { visitor } = await portal.join({ scopes: ['jobs:read'], mayInvite: false });

  await t.test('are shown with the reason and can’t be chosen', async (t) => {
    await visitor.visit('/portal/webhooks/new');
    const disabled = [...visitor.shown.matchAll(/value="([a-z_.]+)"\s+disabled/g)].map(([, kind]) => kind);
    const others = subscribableKinds.filter((kind) => !kind.startsWith('job.'));
    t.strictSame(disabled, others);
    t.match(visitor.text, /quote\.accepted You need quotes:read to choose this\./);
  });

  await t.test('are refused when they are added to the form by hand', async (t) => {
    t.match(
      await visitor.refused('/portal/webhooks', {
        url: URL_GIVEN,
        events: ['job.created', 'invoice.paid'],
      }),
      /To choose "invoice\.paid" you need invoices:read\./,
    );
    t.match(visitor.shown, `value="${URL_GIVEN}"`, 'and what was typed is kept');
    const ping = await visitor.refused('/portal/webhooks', { url: URL_GIVEN, events: ['ping'] });
    t.match(ping, /"ping" can't be chosen/);
    const all = await visitor.refused('/portal/webhooks', { url: URL_GIVEN, events: ['*'] });
    t.match(all, /"\*" is not an event/);
    t.strictSame(await listWebhookRows(engine, COMPANY), []);
  });

  await t.test('of a webhook let them do nothing to it', async (t) => {
    const { id } = await addWebhook(engine, { events: ['job.created', 'invoice.paid', 'payment.recorded'] });
    const of = `/portal/webhooks/${id}`;
    const delivery = await ping(engine, { company: COMPANY, webhook: id }, { now: STORY_NOW });
    await engine.run("UPDATE deliveries SET state = 'failed'");
    const rows = async () => [
      await engine.run('SELECT * FROM webhooks'),
      await engine.run('SELECT * FROM deliveries'),
    ];
    const before = await rows();
    for (const path of [of, `${of}/deliveries?state=unsent`, `${of}/deliveries/${delivery}`]) {
      t.match(
        await visitor.read(path),
        /This webhook sends or sent data that you have no access to: invoices:read\. Ask an/,
      );
      t.notMatch(
        visitor.shown,
        new RegExp(`action="${of}[^"]*"[^>]*method="post"|method="post" action="${of}`),
      );
    }
    const again = `deliveries/${delivery}/send-again`;
    for (const action of ['ping', 'pause', 'resume', 'delete', 'recover', again]) {
      const fields = { from: '2026-11-20T11:00', count: '1', seen: '0' };
      t.equal(await visitor.force(`${of}/${action}`, fields), 422, action);
      t.match(visitor.text, /This webhook sends or sent data that you have no access to: invoices:read\./);
    }
    t.strictSame(await rows(), before);
  });

  await t.test('that it had before count as much', async (t) => {
    const events = ['job.created', 'invoice.paid'];
    const { id } = await addWebhook(engine, { events });
    t.match(await visitor.read(`/portal/webhooks/${id}`), /invoice\.paid Not yours/);
    const change = { company: COMPANY, id, by: 'operator' as const, now: STORY_NOW };
    const { pastEvents } = await changeWebhook(engine, { ...change, events: ['job.created'] });
    t.strictSame(pastEvents, ['invoice.paid']);
    t.match(
      await visitor.read(`/portal/webhooks/${id}/change`),
      /sends or sent data that you have no access to: invoices:read/,
    );
    t.equal(await visitor.force(`/portal/webhooks/${id}/change`, { events: 'job.updated' }), 422);
    t.match(
      visitor.text,
      /sends or sent data that you have no access to: invoices:read/,
      'of which the history has deliveries',
    );
    t.strictSame((await changeWebhook(engine, { ...change, events })).pastEvents, []);
  });
});

onSqlite('the fault of an address is told beside it', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/webhooks/new');
  for (const url of ['http://hooks.example.com/', '"><script>alert(1)</script>']) {
    const told = await visitor.refused('/portal/webhooks', { url, events: 'job.created' });
    t.ok(told.includes('https') && visitor.shown.includes('aria-invalid="true"'), url);
    t.notMatch(visitor.shown, /<script>alert/);
  }
});

onSqlite('markup in an address is only text on every page', async (t, portal) => {
  const { id } = await addWebhook(portal.engine);
  // Registration escapes it all; this is a row that was written by another way.
  const hostile = `https://hooks.example.com/<script>alert(1)</script>?a="><img src=x onerror=alert(1)>&b='onclick='`;
  await portal.engine.transaction((transaction) =>
    transaction.updateTable('webhooks').set({ url: hostile }).execute(),
  );
  await addHistory(portal.engine, { company: COMPANY, webhooks: [id], count: 1, until: STORY_NOW, days: 1 });
  await portal.engine.run(`UPDATE events SET data = '{"title":"</pre><script>alert(2)</script>"}'`);
  const visitor = await portal.signedIn();
  const [delivery] = await portal.engine.run('SELECT id FROM deliveries');
  const of = `/portal/webhooks/${id}`;
  const pages = ['/portal/webhooks', of, `${of}/deliveries`, `${of}/deliveries/${String(delivery?.id)}`];
  const asked = [`${of}/change`, '/portal/deliveries', `${of}/deliveries?from=<script>alert(3)</script>`];
  for (const page of [...pages, ...asked]) {
    await visitor.visit(page);
    t.notMatch(visitor.shown, /<script>alert|<img src=x|onclick='/, page);
    t.match(visitor.shown, /<script src="\/portal\/assets\/\w+\/portal\.js" type="module"><\/script>/);
  }
  t.match(
    await visitor.read(pages[3] ?? ''),
    '"data":{"title":"</pre><script>alert(2)</script>"}',
    'the body is shown as it was sent',
  );
});

onSqlite('ten webhooks are the limit, which is told before an eleventh is filled in', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/webhooks/new');
  const before = visitor.shown;
  for (let index = 0; index < 10; index += 1) await addWebhook(portal.engine);
  t.match(await visitor.read('/portal/webhooks'), /up to 10 webhooks/);
  await visitor.visit('/portal/webhooks/new');
  t.notMatch(visitor.shown, /action="\/portal\/webhooks"/);
  visitor.shown = before;
  t.match(
    await visitor.refused('/portal/webhooks', { url: URL_GIVEN, events: 'job.created' }),
    /already has 10 webhooks, the most it can have/,
  );
});

onSqlite('a webhook’s page says what its receiver answered last', async (t, portal) => {
  const { engine } = portal;
  const { id, secret } = await addWebhook(engine);
  const of = `/portal/webhooks/${id}`;
  const visitor = await portal.signedIn();
  t.notMatch(await visitor.read(of), /Last failure/);
  const said = `<script>alert(1)</script>, it's "${secret}"`;
  const loop = startLoop(
    engine,
    scriptedSender(() => ({ ...answer(401), answerText: said })),
  );
  const delivery = await ping(engine, { company: COMPANY, webhook: id }, { now: STORY_NOW });
  await waitForAttempt(engine, { company: COMPANY, webhook: id, id: delivery }, 20_000);
  await loop[Symbol.asyncDispose]();
  portal.setNow(new Date());
  const seen = await portal.signedIn();
  t.match(
    await seen.read(of),
    /Last failure .* The response was 401\. Usual cause: The receiver checks signatures with another secret/,
  );
  t.match(seen.text, `The receiver said: <script>alert(1)</script>, it's "whsec_…"`);
  t.notMatch(seen.shown, /<script>alert/);
  t.match(seen.shown, `${of}/deliveries/${delivery}`);
  t.notMatch(JSON.stringify(await engine.run('SELECT * FROM webhook_hours')), secret.slice(6, 20));
  t.match(
    await seen.read(`${of}/deliveries/${delivery}`),
    `The response was 401. <script>alert(1)</script>, it's "whsec_…"`,
  );
  t.notMatch(seen.shown, /<script>alert/);
  const { visitor: limited } = await portal.join({ scopes: ['jobs:read'], mayInvite: false });
  t.match(await limited.read(of), /The response was 401/);
  t.notMatch(limited.text, /alert/, 'which may repeat data that they may not see');
});

onSqlite('every event is explained, where it is chosen and on a page', async (t, portal) => {
  const visitor = await portal.signedIn();
  for (const path of ['/portal/events', '/portal/webhooks/new']) {
    await visitor.visit(path);
    for (const { event, body } of exampleEvents().filter(({ event: kind }) => kind !== 'ping')) {
      const { summary, description } = eventWords(event);
      t.match(visitor.text, `${event} ${summary}. Details and an example of ${event}`, path);
      t.match(visitor.text.replaceAll(' ', ''), description.replaceAll(/[` ]/g, ''), path);
      if (exampleEvents().find((one) => one.event === event)?.body === body)
        t.match(visitor.text, JSON.stringify(JSON.parse(body), null, 2).replace(/\s+/g, ' '), path);
    }
  }
  await portal.engine.run("UPDATE companies SET modules = '[]'");
  t.match(
    await visitor.read('/portal/events'),
    'A job is created. Not sent at the moment: Your plan does not include it.',
  );
});
