import got from 'got';
import t from 'tap';

import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { openWorkplace } from '../../../_command.ts';
import { engineNames } from '../../../_server.ts';

for (const name of engineNames) {
  t.test(`${name}: an operator sees which company's feed is silent, and whose webhooks fail`, async (t) => {
    await using workplace = await openWorkplace(name);
    const { call, json } = workplace;
    t.match(await call('status'), { exitCode: 0, stdout: 'No companies.\n' });
    for (const line of ['acme --api', 'quiet --api', 'off']) await json(`company create ${line}`);
    const { id: webhook } = await json<{ id: string }>('webhook create acme https://hooks.example.com/');
    await json(`webhook ping acme ${webhook}`);
    const create = async () => (await json<{ id: string }>('webhook create acme https://b.example.com/')).id;
    const [recovered, paused] = [await create(), await create()];
    await json(`webhook pause acme ${paused}`);
    const nowMs = Date.now();
    const ago = (hours: number) => new Date(nowMs - hours * 3_600_000).toISOString();
    {
      await using engine = await openEngine(workplace.databaseUrl);
      const stamp = (id: string, ms: number) =>
        engine.run(`UPDATE company_clocks SET last_stamp_ms = ${ms} WHERE company = '${id}'`);
      await stamp('acme', nowMs - 100_000);
      await stamp('off', nowMs - 90 * 3_600_000);
      const hour = (id: string, hours: number, delivered: string, failed: string) =>
        engine.run(
          `INSERT INTO webhook_hours VALUES ('acme', '${id}', '${ago(hours).slice(0, 13)}', 1, 1, '${delivered}', '${failed}')`,
        );
      const fails = (id: string, hours: number) =>
        engine.run(`UPDATE webhooks SET failing_since = '${ago(hours)}' WHERE id = '${id}'`);
      // Nothing was sent since, and so nothing arrived.
      await fails(webhook, 40);
      await hour(webhook, 40, ago(40.01), `${ago(40)} 500 dlv_3`);
      await fails(recovered, 2);
      await hour(recovered, 2, ago(1), `${ago(2)} 500 dlv_2`);
      await fails(paused, 2);
      await engine.run(
        `INSERT INTO key_hours VALUES ('acme', '${ago(2)}', 'k1', 5, 1), ('acme', '${ago(3)}', 'k1', 5, 9),
          ('acme', '${ago(2)}', 'k2', 5, 0), ('acme', '${ago(30)}', 'k3', 5, 1)`,
      );
      const position = (company: string, hours: number) =>
        engine.run(`INSERT INTO feed_positions VALUES ('${company}', 'erp', 7, NULL, '${ago(hours)}')`);
      await position('acme', 2);
      await position('quiet', 1);
    }
    const quiet = { lastChangeAt: null, failingWebhooks: 0, dueDeliveries: 0, limitedKeys: 0 };
    const lastChangeAt = new Date(nowMs - 100_000).toISOString();
    t.strictSame(await json('status'), [
      { id: 'acme', name: 'acme', lastChangeAt, failingWebhooks: 1, dueDeliveries: 1, limitedKeys: 1 },
      { ...quiet, id: 'off', name: 'off', lastChangeAt: ago(90) },
      { ...quiet, id: 'quiet', name: 'quiet' },
    ]);
    const { stdout } = await call('status');
    t.match(stdout, /^COMPANY +LAST CHANGE +WEBHOOKS FAILING +DELIVERIES DUE +KEYS LIMITED +NAME\n/);
    t.match(stdout, /\nacme +1 min ago +1 +1 +1 +acme\noff +3 days ago +0 .*\nquiet +never +0 /);
    t.match(await json('company list'), [
      { id: 'acme', lastChangeAt },
      { id: 'off', lastChangeAt: ago(90) },
      { id: 'quiet', lastChangeAt: null },
    ]);
    const { greeting } = await workplace.serveHere([], { DELIVER_WEBHOOKS: 'off' });
    const metrics = await got(`${greeting.management}/metrics`).text();
    const linesOf = (name: string) => metrics.split('\n').filter((line) => line.startsWith(name));
    t.strictSame(
      linesOf('fieldledger_company_last_change'),
      [`fieldledger_company_last_change_timestamp_seconds{company="acme"} ${(nowMs - 100_000) / 1000}`],
      'those that are served and have ever changed',
    );
    t.strictSame(
      linesOf('fieldledger_feed_source_last_change'),
      [`fieldledger_feed_source_last_change_timestamp_seconds{source="erp"} ${Date.parse(ago(1)) / 1000}`],
      'the latest of the companies that a source has',
    );
  });
}
