import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { Worker } from 'node:worker_threads';

import t from 'tap';

import { createCompany } from '../src/access/companies.ts';
import { listen } from '../src/listen.ts';
import { until } from './_command.ts';
import { connectTo } from './_socket.ts';
import { keyFor, startEmptyServer, STORY_NOW } from './_server.ts';
import { idOf, jobOf, store } from './api/_records.ts';

/**
 * Asks for pages without end on some connections. When told to, asks for the health on many new ones, and says how often
 * each of the others was answered until all of those were.
 */
const CROWD = `
  const { Agent, get } = require('node:http');
  const { parentPort, workerData: { url, headers, old, fresh, warmUp } } = require('node:worker_threads');
  const agent = new Agent({ keepAlive: true });
  const counts = { answered: 0, fresh: 0 };
  const ask = (path, options, done) =>
    get(url + path, options, (answer) => answer.resume().once('end', done)).once('error', (error) => { throw error; });
  const again = () => {
    counts.answered += 1;
    if (counts.answered === warmUp) come();
    ask('/api/v1/jobs?limit=100', { headers, agent }, again);
  };
  const come = () => {
    parentPort.postMessage('coming');
    for (let one = 0; one < fresh; one += 1) ask('/healthz', { agent: false }, () => {
      counts.fresh += 1;
      if (counts.fresh === fresh) parentPort.postMessage((counts.answered - warmUp) / old);
    });
  };
  for (let one = 0; one < old; one += 1) again();
`;

const isAlone = process.platform !== 'linux' && 'elsewhere a single socket listens';

t.test('many who connect to a busy server at once are answered in turn', { skip: isAlone }, async (t) => {
  const { server, engine } = await startEmptyServer(t, 'sqlite', { rateLimitPerMinute: 1_000_000 });
  await createCompany(engine, 'busy', {}, STORY_NOW);
  const jobs = Array.from({ length: 100 }, (_value, index) => jobOf({ id: idOf('job', index) }));
  await store(engine, 'busy', jobs);
  const headers = { authorization: `Bearer ${await keyFor(engine, 'busy')}` };
  // Too few for anybody to be refused, and enough for long turns.
  const workerData = { url: server.url, headers, old: 80, fresh: 400, warmUp: 2_000 };
  const crowd = new Worker(CROWD, { eval: true, workerData });
  t.teardown(() => crowd.terminate());
  await once(crowd, 'message');
  // Until all have come, and wait to be taken.
  const haltedAt = performance.now();
  while (performance.now() - haltedAt < 500);
  const [answersOfOthers] = (await once(crowd, 'message')) as [number];
  t.ok(answersOfOthers < 60, `meanwhile each of the others got ${answersOfOthers} answers`);
});

t.test('a port on which another server answers is not shared with it', async (t) => {
  const { server } = await startEmptyServer(t, 'sqlite');
  const port = Number(new URL(server.url).port);
  await t.rejects(listen(createServer(), { host: '127.0.0.1', port }), { code: 'EADDRINUSE', port });
});

t.test('a start that fails in its midst leaves nothing that listens', { skip: isAlone }, async (t) => {
  const holder = createSocketServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.teardown(() => holder.close());
  const server = createServer();
  // The first socket is as it should be, the second one's port is taken.
  Object.assign(server, { address: () => holder.address() });
  const { port } = holder.address() as AddressInfo;
  await t.rejects(listen(server, { host: '127.0.0.1', port: 0 }), { code: 'EADDRINUSE', port });
  t.notOk(server.listening);
});

t.test('no more connections are open than may be, whichever socket took them', async (t) => {
  const { server } = await startEmptyServer(t, 'sqlite', { connectionsMax: 20 });
  const port = Number(new URL(server.url).port);
  const ask = async () => {
    const connection = await connectTo(port);
    connection.send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until(() => connection.isClosed() || connection.received().endsWith('{"status":"alive"}'));
    return connection;
  };
  const open = [];
  for (let one = 0; one < 20; one += 1) open.push(await ask());
  t.notOk(open.some((connection) => connection.isClosed()));
  t.equal((await ask()).received(), '', 'one too many is closed without an answer');
  open.pop()?.[Symbol.dispose]();
  await until(async () => {
    using connection = await ask();
    return !connection.isClosed();
  });
  for (const connection of open) connection[Symbol.dispose]();
});
