import { execFile } from 'node:child_process';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';
import type { Test } from 'tap';

import { attemptErrorTexts, createSender, isDelivered } from '../../src/webhooks/sender.ts';
import { createAuthority } from './_certificates.ts';
import { watchDials } from './_dialled.ts';
import type { Errand, Report } from './_lone-sender.ts';
import {
  authority,
  HOST,
  type Receiver,
  startHttpsReceiver,
  startTcpReceiver,
  startTlsReceiver,
} from './_receivers.ts';
import { requestTo, senderTo } from './_senders.ts';

t.test('the receiver gets exactly what is described', async (t) => {
  let head = '';
  await using receiver = await startTlsReceiver((socket) => {
    socket.on('data', (part: Buffer) => {
      head += part.toString();
      if (head.endsWith('}')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  await using sender = senderTo(receiver);
  await sender.send(
    requestTo({ url: `https://${HOST}/hook/a%20b?c=d&e=%C3%A9`, body: '{"title":"Größe 🔧"}' }),
  );
  t.strictSame(head.split('\r\n'), [
    'POST /hook/a%20b?c=d&e=%C3%A9 HTTP/1.1',
    `Host: ${HOST}`,
    'Content-Type: application/json',
    'User-Agent: Fieldledger-Webhooks/1',
    'Service-Event: ping',
    'Content-Length: 24',
    'Connection: keep-alive',
    '',
    '{"title":"Größe 🔧"}',
  ]);
});

t.test('redirects are not followed, and no header of an answer is heeded', async (t) => {
  for (const status of [200, 301, 302, 303, 307, 308]) {
    const dialled = watchDials(t);
    const seen: IncomingHttpHeaders[] = [];
    await using receiver = await startHttpsReceiver((request, response) => {
      seen.push(request.headers);
      const elsewhere = 'https://169.254.169.254/';
      response
        .writeHead(status, {
          'Content-Length': 0,
          Location: elsewhere,
          Refresh: `0; url=${elsewhere}`,
          'Alt-Svc': 'h3="169.254.169.254:443"',
          'Set-Cookie': 'a=b; Domain=example.com',
        })
        .end();
    });
    await using sender = senderTo(receiver);
    const result = await sender.send(requestTo());
    t.equal(result.status, status);
    t.equal(isDelivered(result), status === 200);
    await sender.send(requestTo());
    t.equal(dialled.length, 1);
    t.strictSame(
      seen.map(({ cookie }) => cookie),
      [undefined, undefined],
    );
  }
});

t.test('what can’t be sent is a failed attempt, never an exception', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await using sender = senderTo(receiver);
  const urls = [
    '',
    'hook',
    `http://${HOST}/`,
    `https://${HOST}:8443/`,
    `https://a:b@${HOST}/`,
    'https://localhost/',
  ];
  for (const url of urls)
    t.match(await sender.send(requestTo({ url })), { status: null, error: 'refused' }, url);
  const request = requestTo();
  t.match(await sender.send({ ...request, headers: { 'Service-Event': 'a\r\nb: c' } }), {
    error: 'protocol',
  });
  t.equal(dialled.length, 0);
  await using broken = senderTo(receiver, {
    isCallable: () => {
      throw new Error('The rule fails.');
    },
  });
  t.match(await broken.send(request), { status: null, error: 'protocol' });
});

t.test('a sender without a name server of a test doesn’t call this machine', async (t) => {
  const dialled = watchDials(t);
  await using receiver = await startHttpsReceiver((_request, response) => response.end());
  await using sender = createSender({
    resolve: async () => ['127.0.0.1'],
    ca: authority.ca,
    port: receiver.port,
  });
  t.match(await sender.send(requestTo()), { status: null, error: 'refused' });
  t.equal(dialled.length, 0);
});

t.test('every class of error has one text, which names nothing', async (t) => {
  t.equal(new Set(Object.values(attemptErrorTexts)).size, 7);
  for (const text of Object.values(attemptErrorTexts)) t.match(text, /^[A-Z][\w ,:/.]+\.$/);
});

t.test('an attempt ends after 10 seconds', async (t) => {
  await using receiver = await startTcpReceiver((socket) => socket.resume());
  await using sender = createSender({
    resolve: async () => ['127.0.0.1'],
    isCallable: () => true,
    port: receiver.port,
  });
  const { error, totalMs } = await sender.send(requestTo());
  t.equal(error, 'timeout');
  t.ok(totalMs >= 9_990 && totalMs < 10_300, `${totalMs} ms`);
});

t.test('neither the environment nor the command line of Node has a say', async (t) => {
  await using proxy = await startTcpReceiver((socket) => socket.destroy());
  const address = `http://127.0.0.1:${proxy.port}`;
  const environment = {
    HTTPS_PROXY: address,
    https_proxy: address,
    HTTP_PROXY: address,
    ALL_PROXY: address,
    NODE_USE_ENV_PROXY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_OPTIONS:
      '--tls-min-v1.0 --tls-cipher-list=DEFAULT:@SECLEVEL=0 --max-http-header-size=200000 --insecure-http-parser --no-warnings',
  };
  const answers = await startTlsReceivers(t);
  for (const [expected, receiver] of answers) {
    const { results } = await sendAlone(answers[0][1], receiver, { count: 1, environment });
    t.strictSame(results, [expected]);
  }
  t.equal(proxy.connectionCount(), 0);
});

/** Receivers that options of Node would change the answer from. */
async function startTlsReceivers(t: Test): Promise<[[200, Receiver], ...[string, Receiver][]]> {
  const stack = new AsyncDisposableStack();
  t.teardown(() => stack.disposeAsync());
  const say = async (text: string, options = {}) =>
    stack.use(await startTlsReceiver((socket) => void socket.once('data', () => socket.end(text)), options));
  const small = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' };
  return [
    [200, await say(small)],
    ['tls', await say(small, createAuthority().issue({ names: [HOST] }))],
    ['tls', await say(small, old)],
    ['protocol', await say(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(65_536)}\r\n\r\n`)],
    ['protocol', await say('HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n')],
  ];
}

t.test('64 answers without an end at once cost no memory', async (t) => {
  const block = Buffer.alloc(65_536, 'x');
  await using healthy = await startHttpsReceiver((_request, response) => response.end('ok'));
  await using receiver = await startTlsReceiver((socket) => {
    socket.once('data', () => {
      const write = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n');
      socket.on('drain', write);
      write();
    });
  });
  const { results, grownBytes } = await sendAlone(healthy, receiver, { count: 64 });
  t.strictSame([...new Set(results)], [200]);
  t.ok(grownBytes < 20_000_000, `${grownBytes} bytes`);
});

/** Makes attempts from a process of their own. */
async function sendAlone(
  healthy: Receiver,
  { port }: Receiver,
  { count, environment = {} }: { count: number; environment?: Record<string, string> },
): Promise<Report> {
  const errand: Errand = { ca: authority.ca, warmUpPort: healthy.port, port, count };
  const program = join(import.meta.dirname, '_lone-sender.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(errand)], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    timeout: 60_000,
  });
  return JSON.parse(stdout) as Report;
}
