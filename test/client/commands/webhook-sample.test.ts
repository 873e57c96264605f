import { writeFileSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';

import t from 'tap';

import { UsageError } from '../../../src/errors.ts';
import { sendSample } from '../../../src/client/webhooks/samples.ts';
import { callCommand } from '../../_command.ts';
import { closed, eventBodyOf, events, strictAjv } from '../../contract/_contract.ts';
import { listen, silentAddress } from '../_service.ts';
import { receive } from './_receiver.ts';

const sample = (...args: string[]) => callCommand(['webhook', 'sample', ...args], { SERVICE_NAME: 'Acme' });
const vector = events[0]?.parameters.find(({ name }) => name === 'Service-Signature')?.['x-test-vector'];
const { secret: publishedSecret = '', body: publishedBody = '' } = vector ?? {};

t.test('every example of every event arrives as webhooks.yaml says, signed anew', async (t) => {
  const { received, url } = await receive(t, undefined, publishedSecret);
  const ajv = strictAjv();
  const examples = events.flatMap((event) =>
    Object.entries(eventBodyOf(event).examples ?? {}).map(([name, { value }]) => ({ event, name, value })),
  );
  for (const { event, name, value } of examples) {
    const { exitCode, stdout } = await sample(event.kind, '--example', name, '--to', url);
    t.equal(exitCode, 0, `${event.kind} ${name}`);
    const { method, url: path, headers = {}, body = '' } = received.pop() ?? {};
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

t.test('only a 2xx status is a delivery, a redirect is not followed, and no body is read', async (t) => {
  let count = 0;
  const { url } = await listen(t, (req, res) => {
    count += 1;
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
  t.equal(count, 1);
  for (const status of [200, 299, 300, 404, 500]) {
    const answer = await sendSample(url, { 'X-Status': String(status) }, '{}');
    t.equal(answer.status, status);
  }
});

t.test('each failure is told in a sentence', async (t) => {
  const refusing = await silentAddress(t);
  const ending = await listen(
    t,
    createTcpServer((socket) => socket.destroy()),
  );
  const babbling = await listen(
    t,
    createTcpServer((socket) => socket.end('What?\r\n\r\n')),
  );
  const failed = (to: string, reason: string) => `The sample could not be sent to "${to}": ${reason}.`;
  const refusals: [event: string, to: string, message: string, ...others: string[]][] = [
    ['ping', refusing, failed(refusing, 'nothing listens there (ECONNREFUSED)')],
    ['ping', ending.url, failed(ending.url, 'socket hang up')],
    ['ping', babbling.url, failed(babbling.url, 'Parse Error: Expected HTTP/, RTSP/ or ICE/')],
    ['pong', refusing, '"pong" is not an event; did you mean ping?'],
    ['ping', refusing, '"pong" is not an example of ping; did you mean ping?', '--example', 'pong'],
  ];
  for (const [event, to, message, ...others] of refusals) {
    const outcome = await sample(event, '--to', to, ...others);
    t.strictSame(outcome, { exitCode: 1, stdout: '', stderr: `fieldledger: ${message}\n` });
  }
});

t.test('one deadline holds for everything', async (t) => {
  const { url: mute } = await listen(t, createTcpServer());
  const { url: hinting } = await listen(
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

const stories = [
  ['sample', 'ping'],
  ['play', 'day'],
];

t.test('a secret from a file signs, and is never shown', async (t) => {
  const own = 'whsec_c2VjcmV0IG9mIG15IG93bg==';
  // As an editor on Windows may keep it.
  const file = join(t.testdir({ secret: `\ufeff${own} \r\n\r\n` }), 'secret');
  const { received, url } = await receive(t, undefined, own);
  for (const story of stories)
    for (const json of [[], ['--json']]) {
      const args = ['webhook', ...story, '--to', url, '--secret-file', file, ...json];
      const { exitCode, stdout, stderr } = await callCommand(args);
      t.equal(exitCode, 0, stderr);
      t.ok(received.splice(0).length > 0);
      t.notOk(`${stdout}${stderr}`.includes('c2VjcmV0'));
    }
});

t.test('an address or a secret that can’t be one is told in a sentence', async (t) => {
  const folder = t.testdir({ part: 'ZmllbGRsZWRnZXI=' });
  writeFileSync(join(folder, 'large'), publishedSecret.repeat(2_000));
  const [to, file] = ['--to', '--secret-file'];
  const url = 'http://127.0.0.1:9/';
  const cases: [args: string[], exitCode: number, message: RegExp][] = [
    [
      [to, 'localhost:3000'],
      1,
      /"localhost:3000" is not an address such as http:\/\/localhost:3000\/hook\.$/m,
    ],
    [[to, 'ftp://localhost/'], 1, /"ftp:\/\/localhost\/" is not an address such as /],
    [[], 2, /Required option '--to <url>' not specified/],
    [
      [to, url, file, join(folder, 'part')],
      1,
      /The secret must be complete, as it was shown: it begins with whsec_\.$/m,
    ],
    [
      [to, url, file, join(folder, 'none')],
      1,
      /--secret-file names ".*", which can't be read \(ENOENT\)\.$/m,
    ],
    [[to, url, file, folder], 1, /--secret-file names ".*", which is not a file\.$/m],
    [
      [to, url, file, join(folder, 'large')],
      1,
      /--secret-file names ".*", which has more than 65536 bytes\.$/m,
    ],
    // It never stands on the command line, where others can read it.
    [[to, url, '--secret', 'whsec_x'], 2, /Unknown option '--secret'\./],
  ];
  for (const story of stories)
    for (const [args, exitCode, stderr] of cases) {
      const outcome = await callCommand(['webhook', ...story, ...args]);
      t.match(outcome, { exitCode, stdout: /^$/, stderr }, [...story, ...args].join(' '));
    }
});
