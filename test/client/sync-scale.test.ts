import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { createClient } from '../../src/client/index.ts';
import { sync } from '../../src/client/sync/sync.ts';
import { generatedService } from './_generated-service.ts';
import { listen } from './_service.ts';

/** Invoices of the copy whose memory is measured; `make sync` asks for a million. */
const INVOICES = Number(process.env.SYNC_INVOICES ?? 2_000);
const QUOTA = 120;

t.test('a first sync of 20,000 records takes no more than 5 % longer than the rate limit asks', async (t) => {
  let time = 0;
  const now = () => time;
  const wait = async (ms: number) => void (time += ms);
  const service = generatedService({ jobs: 18_500, invoices: 1_500, quota: QUOTA, now });
  const client = createClient({
    baseUrl: 'http://127.0.0.1',
    key: 'fl.large.0.x',
    now,
    wait,
    async fetch(request) {
      // A tenth of a second for each answer.
      time += 100;
      return service.fetch(request);
    },
  });
  const { counts } = await sync(client, { sink: () => undefined });
  t.match(counts, { jobs: { put: 18_500 }, invoices: { put: 1_500 } });
  t.equal(service.answers.get(429), undefined, 'no request is refused');
  const needed = 18_500 / 100 + 1_500 / 100 + 1_500;
  const sent = service.answers.get(200) ?? 0;
  t.ok(sent <= needed * 1.01, `${sent} requests, of which ${needed} are needed`);
  const allowedMs = Math.floor((needed - 1) / QUOTA) * 60_000;
  t.ok(time <= allowedMs * 1.05, `${time / 1000} s, where the rate limit asks for ${allowedMs / 1000} s`);
});

t.test(`a copy of ${INVOICES} invoices takes less than 100 MB beside Node’s own`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-large-'));
  const service = generatedService({ jobs: 0, invoices: INVOICES });
  const { url } = await listen(t, (req, res) => {
    void service.fetch(new Request(`http://127.0.0.1${req.url ?? ''}`)).then(async (answer) => {
      answer.headers.forEach((value, name) => res.setHeader(name, value));
      res.writeHead(answer.status).end(await answer.text());
    });
  });
  t.teardown(() => rmSync(folder, { recursive: true }));
  const script = join(import.meta.dirname, '_large-copier.ts');
  // As the command runs.
  const args = ['--max-semi-space-size=8', script, url, join(folder, 'large.sqlite')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  const { put, more } = JSON.parse(stdout) as Record<'put' | 'more', number>;
  t.equal(put, INVOICES);
  t.ok(more < 100, `${more} MB`);
});
