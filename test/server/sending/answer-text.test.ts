import t from 'tap';

import { answerText, keptAnswer } from '../../../src/server/sending/answer-text.ts';
import { makeAttempt } from '../../../src/server/features/webhooks/deliveries/attempt.ts';
import { createLogger } from '../../../src/server/process/log.ts';
import { createMetrics } from '../../../src/server/process/metrics.ts';
import { createSecretBox } from '../../../src/server/process/secret-box.ts';
import { pingData } from '../../../src/contract/delivery-request.ts';
import { mintSecret } from '../../../src/server/features/webhooks/registration.ts';
import { answer, scriptedSender } from '../features/webhooks/deliveries/_delivery-loop.ts';
import { startHttpsReceiver } from './_receivers.ts';
import { requestTo, senderTo } from './_senders.ts';
import { sealedSecret, SECRET_KEY } from '../../_command.ts';

const textOf = (type: string | undefined, body: string | Buffer, coding?: string) =>
  answerText(
    { ...(type !== undefined && { 'content-type': type }), ...(coding && { 'content-encoding': coding }) },
    Buffer.from(body),
  );

t.test('an attempt keeps nothing of its signing secret, which the receiver repeats', async (t) => {
  const secret = mintSecret();
  const now = () => new Date('2026-11-20T12:00:00Z');
  const at = now().toISOString();
  const switches = { apiEnabled: true, subscriptionActive: true, invoicingEnabled: true, modules: [] };
  const delivery = {
    ...{ company: 'acme', webhook: 'whk_1', id: 'del_1', lease: 'l', attempt: 1, failureCount: 0 },
    secret: sealedSecret('acme', 'whk_1', secret),
    ...{ kind: 'ping' as const, createdAt: at, dueAt: at, data: pingData, url: 'https://hooks.example.com/' },
    ...{ isWebhookDeleted: false, isWebhookPaused: false, isTest: true, switches },
  };
  const answerText = `${secret.slice('whsec_'.length)} is no key`;
  const { attempt } = await makeAttempt(delivery, {
    sender: scriptedSender(() => ({ ...answer(401), answerText })),
    ...{ secrets: createSecretBox(SECRET_KEY), serviceName: 'Fieldledger', now, random: () => 0 },
    ...{ log: createLogger('silent'), metrics: createMetrics().deliveries },
  });
  t.equal(attempt?.answerText, '… is no key');
});

t.test('an answer is told as a line of plain text, or not at all', async (t) => {
  const page =
    '<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>p { color: red }</style></head>' +
    '<body><script>alert("1 > 0")</script ><h1>Bad&nbsp;Gateway</h1>\n<p>nginx &lt;1.27&gt; &amp;lt; &bogus;</p><scr';
  const told: [type: string | undefined, body: string | Buffer, text: string | undefined][] = [
    ['text/plain', 'no such tenant', 'no such tenant'],
    [undefined, 'bad signature', 'bad signature'],
    ['application/json; charset=utf-8', '{"error":\n  "Größe"}', '{"error": "Größe"}'],
    ['application/problem+json', '{}', '{}'],
    ['text/html; charset=utf-8', page, '502 Bad Gateway Bad Gateway nginx <1.27> &lt; &bogus;'],
    ['text/html', '<script>a<script>'.repeat(200), undefined],
    ['text/plain', '<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['text/plain', '\u001b[31mred\u001b[0m\u0000\u0007 \u001b]0;title\u0007end', 'red end'],
    ['text/plain', 'pay \u202eevil\u2066\u200b\ufeff now', 'pay evil now'],
    ['text/plain', Buffer.from('Größe', 'latin1'), undefined],
    ['text/plain', Buffer.from('Größe 🔧').subarray(0, -1), 'Größe'],
    ['application/octet-stream', 'text', undefined],
    ['image/png', 'text', undefined],
    ['', '  \n\t ', undefined],
    ['text/plain', '', undefined],
  ];
  for (const [type, body, text] of told) t.equal(textOf(type, body), text, `${type}: ${String(body)}`);
  t.equal(textOf('text/plain', 'text', 'gzip'), undefined);
});

t.test('a signing secret is never kept, in whatever way the receiver writes it', async (t) => {
  for (let round = 0; round < 50; round += 1) {
    const secret = mintSecret();
    const bare = secret.slice('whsec_'.length);
    const parts = bare.match(/\w{8,}/g) ?? [];
    const other = mintSecret();
    const texts = [secret, bare, other, secret.replaceAll('/', '\\/'), encodeURIComponent(secret)];
    for (const text of [...texts, encodeURIComponent(bare), secret.slice(0, 20)]) {
      const kept = keptAnswer(`{"secret":"${text}","why":"no"}`, secret);
      t.notOk(
        parts.some((part) => kept.includes(part)),
        kept,
      );
      t.notOk(kept.includes(other.slice(6)) || /whsec_\w/.test(kept), kept);
      t.match(kept, /^\{"secret":".*","why":"no"\}$/);
    }
  }
  t.equal(keptAnswer('🔧'.repeat(300), mintSecret()), '🔧'.repeat(300));
  const long = keptAnswer('🔧'.repeat(301), mintSecret());
  t.equal([...long].length, 300);
  t.ok(long.isWellFormed() && long.endsWith('🔧…'));
});

t.test('the beginning of a refusal is read, and of no other answer', async (t) => {
  const answers: [status: number, head: Record<string, string>, body: string, text: string | undefined][] = [
    [400, { 'Content-Length': '3' }, 'why', 'why'],
    [422, {}, 'in chunks', 'in chunks'],
    [500, {}, 'x'.repeat(10_000_000), 'x'.repeat(4_096)],
    [500, { 'Content-Length': '10000000' }, 'y'.repeat(10_000_000), 'y'.repeat(4_096)],
    [302, { Location: 'https://169.254.169.254/' }, 'elsewhere', 'elsewhere'],
    [300, {}, 'many', 'many'],
    [299, {}, 'fine', undefined],
    [200, {}, 'fine', undefined],
    [204, {}, '', undefined],
  ];
  let next = 0;
  await using receiver = await startHttpsReceiver((request, response) => {
    const [status = 0, head, body] = answers[next] ?? [];
    request.resume();
    response.writeHead(status, head).end(body);
  });
  await using sender = senderTo(receiver);
  for (const [status, , , text] of answers) {
    const result = await sender.send(requestTo());
    t.match(result, { status, answerText: text });
    t.equal(Object.hasOwn(result, 'answerText'), text !== undefined);
    next += 1;
  }
});

t.test('a refusal that never ends holds nothing up', async (t) => {
  await using receiver = await startHttpsReceiver((_request, response) => {
    response.writeHead(503).write('Down for ');
  });
  await using sender = senderTo(receiver);
  const startedAt = performance.now();
  t.match(await sender.send(requestTo()), { status: 503, answerText: 'Down for' });
  t.ok(performance.now() - startedAt < 2_000);
  await receiver.deserted();
});
