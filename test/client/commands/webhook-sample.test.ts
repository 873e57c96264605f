import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';

import { join } from 'node:path';

import t from 'tap';
import type { Test } from 'tap';

import { UsageError } from '../../../src/errors.ts';
import { sendSample } from '../../../src/client/webhooks/samples.ts';
import { callCommand } from '../../_command.ts';
import { closed, eventBodyOf, events, strictAjv } from '../../contract/_contract.ts';

interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Listens on a free port of this machine until the test ends. */
async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  // A server that listens on a port has an address of this shape.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A receiver that keeps what it gets and answers as told. */
async function receive(t: Test, answer: RequestListener = (_req, res) => res.writeHead(204).end()) {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      received.push({ method: req.method, url: req.url, headers: req.headers, body });
      answer(req, res);
    });
  });
  t.teardown(() => server.closeAllConnections());
  const last = () => {
    const request = received.at(-1);
    if (!request) throw new Error('Nothing was received.');
    return request;
  };
  return { received, last, url: `${await listen(t, server)}/hook?x=1` };
}

const sample = (...args: string[]) => callCommand(['webhook', 'sample', ...args], { SERVICE_NAME: 'Acme' });
const vector = events[0]?.parameters.find(({ name }) => name === 'Service-Signature')?.['x-test-vector'];
const { secret: publishedSecret = '', body: publishedBody = '' } = vector ?? {};

/** The fault in the signature of a request; undefined when there is none. */
function wrongWith({ headers, body }: Received, secret: string): string | undefined {
  const header = String(headers['service-signature']);
  const [, time = ''] = /^t=(\d+),v1=/.exec(header) ?? [];
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < 30)) return `it was not signed now: ${header}`;
  const v1 = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return header === `t=${time},v1=${v1}` ? undefined : `it is wrong: ${header}`;
}

t.test('every example of every event arrives as webhooks.yaml says, signed anew', async (t) => {
  const { last, url } = await receive(t);
  const ajv = strictAjv();
  const examples = events.flatMap((event) =>
    Object.entries(eventBodyOf(event).examples ?? {}).map(([name, { value }]) => ({ event, name, value })),
  );
  for (const { event, name, value } of examples) {
    const { exitCode, stdout } = await sample(event.kind, '--example', name, '--to', url);
    t.equal(exitCode, 0, `${event.kind} ${name}`);
    const { method, url: path, headers, body } = last();
    t.strictSame([method, path, headers['content-type']], ['POST', '/hook?x=1', 'application/json']);
    t.strictSame(JSON.parse(body), value);
    t.ok(ajv.validate(closed(eventBodyOf(event).schema), JSON.parse(body)), ajv.errorsText());
    for (const { name: header, schema } of event.parameters) {
      const text = headers[header.toLowerCase()];
      const sent = (schema as { type?: string }).type === 'integer' ? Number(text) : text;
      t.ok(ajv.validate(schema, sent), `${header} ${ajv.errorsText()}`);
    }
    const { id } = value as { id: string };
    t.match(headers, {
      'service-event': event.kind,
      'service-delivery': id,
      'user-agent': 'Acme-Webhooks/1',
    });
    t.equal(wrongWith(last(), publishedSecret), undefined);
    t.ok(stdout.includes(publishedSecret) && stdout.includes(body), 'both are shown');
  }
});

t.test('it shows the request, the answer and how to verify it', async (t) => {
  const { url } = await receive(t);
  const prose = await sample('ping', '--to', url);
  const shown = new RegExp(
    [
      `^POST ${url.replace('?', '\\?')}`,
      'Content-Type: application/json',
      'User-Agent: Acme-Webhooks/1',
      'Service-Event: ping',
      'Service-Delivery: dlv_[\\w-]+',
      'Service-Signature: t=\\d+,v1=[0-9a-f]{64}',
      'traceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-01',
      '',
      '\\{"id":.*\\}',
      '',
      '204 after \\d+ ms: delivered',
      'Signed with the secret whsec_\\S+\\. To verify it, .*\n$',
    ].join('\n'),
  );
  t.match(prose.stdout, shown);
  const { stdout } = await sample('ping', '--to', url, '--json');
  t.match(JSON.parse(stdout), {
    request: { url, headers: { 'Service-Event': 'ping' }, body: publishedBody },
    secret: publishedSecret,
    answer: { status: 204, milliseconds: Number },
    isDelivered: true,
  });
});

t.test('a secret that is given signs, and is not shown again', async (t) => {
  const { last, url } = await receive(t);
  const secret = 'whsec_c2VjcmV0IG9mIG15IG93bg==';
  const file = join(t.testdir({ secret: `${secret}\n` }), 'secret');
  for (const json of [[], ['--json']]) {
    const { exitCode, stdout, stderr } = await sample('ping', '--to', url, '--secret-file', file, ...json);
    t.equal(exitCode, 0);
    t.notOk(`${stdout}${stderr}`.includes('c2VjcmV0'));
    t.equal(wrongWith(last(), secret), undefined);
  }
});

t.test(
  'only a 2xx status counts as delivered, a redirect is not followed, and no body is read',
  async (t) => {
    const { received, url } = await receive(t, (req, res) => {
      res.writeHead(Number(req.headers['x-status'] ?? 302), { Location: '/elsewhere' });
      // It never ends, and nobody waits for its end.
      res.write('x');
    });
    const { exitCode, stdout, stderr } = await sample('ping', '--to', url);
    t.equal(exitCode, 1);
    t.match(
      stdout,
      /302 after \d+ ms: not delivered, because the status isn’t 2xx; a delivery would be retried/,
    );
    t.equal(stderr, '');
    t.equal(received.length, 1);
    for (const status of [200, 299, 300, 404, 500]) {
      const answer = await sendSample(url, { 'X-Status': String(status) }, '{}');
      t.equal(answer.status, status);
    }
  },
);

t.test('each failure is told in a sentence', async (t) => {
  const { url } = await receive(t);
  const free = createTcpServer();
  const refusing = await listen(t, free);
  free.close();
  const ending = await listen(
    t,
    createTcpServer((socket) => socket.destroy()),
  );
  const babbling = await listen(
    t,
    createTcpServer((socket) => socket.end('What?\r\n\r\n')),
  );
  const failed = (to: string, reason: string) => `The sample could not be sent to "${to}": ${reason}.`;
  const refusals: [string[], string][] = [
    [['ping', '--to', refusing], failed(refusing, 'nothing listens there (ECONNREFUSED)')],
    [['ping', '--to', ending], failed(ending, 'socket hang up')],
    [['ping', '--to', babbling], failed(babbling, 'Parse Error: Expected HTTP/, RTSP/ or ICE/')],
    [['pong', '--to', url], `"pong" is not an event; did you mean ping?`],
    [['ping', '--to', url, '--example', 'pong'], '"pong" is not an example of ping; did you mean ping?'],
    [
      ['ping', '--to', 'localhost:3000'],
      '"localhost:3000" is not an address such as http://localhost:3000/hook.',
    ],
    [
      ['ping', '--to', 'ftp://localhost/'],
      '"ftp://localhost/" is not an address such as http://localhost:3000/hook.',
    ],
    [
      ['ping', '--to', url, '--secret-file', join(t.testdir({ part: 'ZmllbGRsZWRnZXI=' }), 'part')],
      'The secret must be complete, as it was shown: it begins with whsec_.',
    ],
  ];
  for (const [args, message] of refusals) {
    t.strictSame(await sample(...args), { exitCode: 1, stdout: '', stderr: `fieldledger: ${message}\n` });
  }
  t.equal((await sample('ping')).exitCode, 2, 'an address is needed');
});

t.test('one deadline holds for everything', async (t) => {
  const mute = await listen(t, createTcpServer());
  const hinting = await listen(
    t,
    createTcpServer((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20);
      socket.on('error', () => undefined).on('close', () => clearInterval(timer));
    }),
  );
  for (const url of [mute, mute.replace('http:', 'https:'), hinting]) {
    const begun = performance.now();
    const error: unknown = await sendSample(url, {}, '{}', 300).catch((reason: unknown) => reason);
    t.ok(error instanceof UsageError);
    t.equal(
      (error as Error).message,
      `The sample could not be sent to "${url}": there was no answer within 0.3 seconds.`,
    );
    t.ok(performance.now() - begun < 2_000);
  }
});

t.test('a secret never stands on the command line, where others can read it', async (t) => {
  const { exitCode, stderr } = await sample('ping', '--to', 'http://localhost:1', '--secret', 'whsec_x');
  t.equal(exitCode, 2);
  t.match(stderr, "Unknown option '--secret'.");
});
