import t from 'tap';

import { exampleData } from '../../../../../src/contract/examples.ts';
import { signatureOf } from '../../../../../src/contract/delivery-request.ts';
import { listAuditRows } from '../../../../../src/server/store/accounts/audit-trail.ts';
import { engineNames, PORTAL_SETTINGS, STORY_NOW } from '../../../../_server.ts';
import { COMPANY, onSqlite } from '../../../portal/_portal.ts';
import { addHistory } from '../_history.ts';
import { addWebhook } from '../_registered.ts';
import { answer, scriptedSender, startLoop } from './_delivery-loop.ts';
import { crawl, idsWhere, startHistory } from './_listed.ts';

for (const name of engineNames)
  t.test(`${name}: deliveries of all webhooks are one list, also those about one record`, async (t) => {
    const { portal, engine, id } = await startHistory(t, 150, name);
    const third = await addWebhook(engine, { events: ['quote.accepted'] });
    await addHistory(engine, {
      ...{ company: COMPANY, webhooks: [third.id], count: 40, days: 2, failedEvery: 3 },
      until: new Date(STORY_NOW.getTime() - 1),
    });
    await engine.run(`UPDATE deliveries SET state = 'retrying' WHERE webhook = '${id}' AND state = 'failed'`);
    await engine.run("UPDATE delivery_attempts SET status = 410, error = NULL WHERE delivery LIKE '%3'");
    const visitor = await portal.signedIn();
    const answered = (condition: string) =>
      `(SELECT ${condition} FROM delivery_attempts AS a WHERE a.webhook = d.webhook AND a.delivery = d.id ORDER BY number DESC LIMIT 1)`;
    const isRecord = (record: string) => `CAST(e.data AS TEXT) LIKE '{"id":"${record}",%'`;
    const [one = ''] = await idsWhere(engine, `d.webhook = '${id}' AND d.state = 'delivered'`);
    const filters: [query: string, condition: string][] = [
      ['', 'TRUE'],
      ['?event=quote.accepted', "e.kind = 'quote.accepted'"],
      ['?state=unsent', "d.state = 'failed'"],
      ['?state=retrying', "d.state = 'retrying'"],
      ['?state=delivered&event=quote.accepted', "d.state = 'delivered' AND e.kind = 'quote.accepted'"],
      ['?from=2026-11-19T00:00&until=2026-11-20T00:00', "substr(e.created_at, 1, 10) = '2026-11-19'"],
      ['?record=job_7', isRecord('job_7')],
      ['?record=job_13&event=quote.accepted', `${isRecord('job_13')} AND e.kind = 'quote.accepted'`],
      ['?record=job_7&state=unsent', `${isRecord('job_7')} AND d.state = 'failed'`],
      ["?record='", 'FALSE'],
      ['?response=2xx', answered('a.status < 300')],
      ['?response=4xx', answered('a.status = 410')],
      ['?response=0xx&state=unsent', `d.state = 'failed' AND ${answered('a.error IS NOT NULL')}`],
      ['?response=4xx&event=quote.accepted', `e.kind = 'quote.accepted' AND ${answered('a.status = 410')}`],
      ['?response=3xx', 'FALSE'],
      [`?record=${one}`, `d.id = '${one}'`],
      [`?record=${one}&state=unsent&event=quote.accepted`, 'FALSE'],
    ];
    for (const [query, condition] of filters) {
      const expected = await idsWhere(engine, condition);
      const found = await crawl(visitor, `/portal/deliveries${query}`);
      t.strictSame(found.toSorted(), expected.toSorted(), query || 'none');
      const places = found.map((one) => one.slice(0, 17));
      t.strictSame(places, places.toSorted().reverse(), 'the newest first');
      t.ok(expected.length > 0 || condition === 'FALSE', query);
    }
    const backwards = await visitor.visit('/portal/deliveries?from=2026-11-20T00:00&until=2026-11-19T00:00');
    t.equal(backwards.statusCode, 422);
    t.match(visitor.text, 'The end must be after the start');
    const { visitor: limited } = await portal.join({ scopes: ['quotes:read'], mayInvite: false });
    const visible = await idsWhere(engine, "e.kind = 'quote.accepted'");
    t.strictSame((await crawl(limited, '/portal/deliveries')).toSorted(), visible.toSorted());
    t.match(limited.text, /Deliveries of events whose data you can’t see are left out/);
    t.strictSame(await crawl(limited, '/portal/deliveries?record=job_7'), []);
  });

onSqlite(
  'a sample of an event is signed and sent, and counts as a test',
  { portal: { ...PORTAL_SETTINGS, pingWaitMs: 20_000 } },
  async (t, portal) => {
    const { engine } = portal;
    const { id, secret } = await addWebhook(engine, { events: ['job.created', 'invoice.paid'] });
    const of = `/portal/webhooks/${id}`;
    const visitor = await portal.signedIn();
    const sender = scriptedSender(() => answer(500));
    const loop = startLoop(engine, sender);
    await visitor.visit(of);
    t.match(
      await visitor.refused(`${of}/ping`, { event: 'quote.accepted' }),
      /is not an event of the webhook/,
    );
    t.match(await visitor.act(`${of}/ping`, { event: 'invoice.paid' }), /Retrying Test The response was 500/);
    await loop[Symbol.asyncDispose]();
    const body = sender.sent[0]?.body ?? '';
    const signature = sender.sent[0]?.headers['Service-Signature'] ?? '';
    const { event, companyId, data } = JSON.parse(body) as Record<string, unknown>;
    t.strictSame([event, companyId], ['invoice.paid', COMPANY]);
    t.strictSame(data, JSON.parse(exampleData('invoice.paid')));
    const [, at = 0] = /t=(\d+)/.exec(signature) ?? [];
    t.equal(signature, signatureOf(secret, body, new Date(Number(at) * 1_000)));
    const [counted] = await engine.run('SELECT delivered_count, failed_count FROM webhook_hours');
    t.strictSame(counted, { delivered_count: 0, failed_count: 0 });
    t.strictSame(await engine.run('SELECT failing_since FROM webhooks'), [{ failing_since: null }]);
    t.match(
      await visitor.read('/portal/deliveries'),
      /invoice\.paid dlv_\S+ hooks\.example\.com .* Retrying Test/,
    );
    const [entry] = await listAuditRows(engine, COMPANY, { action: 'webhook.sampled', limit: 1 });
    t.match(entry?.details, { webhook: id, event: 'invoice.paid' });
  },
);
