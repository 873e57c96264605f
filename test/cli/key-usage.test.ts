import got from 'got';
import t from 'tap';

import { openEngine } from '../../src/store/engine.ts';
import { listKeyHours } from '../../src/store/key-usage.ts';
import { openWorkplace } from '../_command.ts';
import { engineNames } from '../_server.ts';

for (const name of engineNames) {
  t.test(`${name}: what keys asked for is written down when servers are told to stop`, async (t) => {
    await using workplace = await openWorkplace(name);
    await workplace.call(['company', 'create', 'acme', '--api', '--invoicing']);
    const { key } = await workplace.json<{ key: string }>(['key', 'create', 'acme']);
    const count = 2;
    for (let started = 0; started < count; started += 1) {
      const served = await workplace.serve();
      for (let asked = 0; asked < 3; asked += 1)
        await got(`${served.greeting.address}/api/v1/jobs`, { headers: { authorization: `Bearer ${key}` } });
      t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
      t.notMatch(served.output.stderr, key.split('.')[3] ?? key, 'no secret is in the log');
    }
    await using engine = await openEngine(workplace.databaseUrl);
    const rows = await listKeyHours(engine, 'acme', { from: '', limit: 10 });
    const answered = rows.reduce((sum, row) => sum + row.answered, 0);
    t.equal(answered, 3 * count, 'those of both servers together');
  });
}
