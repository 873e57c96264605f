import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';

import t from 'tap';

import { handOverAgain } from '../../../../src/server/features/hand-over/again.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { prepareHandOver } from '../../../../src/server/features/hand-over/handing-over.ts';
import { leaseDue, settleDue } from '../../../../src/server/store/outbox.ts';
import { purge } from '../../../../src/server/commands/purge.ts';
import { openTestDatabase, STORY_NOW } from '../../../_server.ts';
import { createTestBackoffice, onEachEngine } from '../../backoffice/_backoffice.ts';
import { credit, invoiceDraft, issue, issued, line, lineIn } from '../../backoffice/_documents.ts';
import {
  handOverOnce,
  openFolder,
  openSender,
  startAccessPoint,
  startSender,
  stateOf,
  TOKEN,
} from './_hand-over.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const after = (ms: number) => new Date(STORY_NOW.getTime() + ms);

onEachEngine('what is issued is to be handed over, with its issue and not without', async (t, backoffice) => {
  const { engine } = backoffice;
  const rows = async () => (await engine.run('SELECT id FROM hand_overs ORDER BY id')).map(({ id }) => id);
  const { company, invoice } = await startSender(backoffice);
  const note = await credit(company, invoice, [line()]);
  const ids = [invoice.id, note.id].sort();
  t.strictSame(await rows(), ids);
  await issued(company, invoiceDraft({ kind: 'pro_forma' }));
  const { id } = await company.apply(invoiceDraft());
  t.strictSame(await rows(), ids, 'neither a pro forma nor a draft');
  await company.apply({ change: 'company.save', with: { countryCode: 'DE' } });
  t.match(await company.refusal(issue(id)), { code: 'unsupported_country' });
  t.strictSame(await rows(), ids, 'a refused issue hands nothing over');
  await company.apply({ change: 'company.save', with: { countryCode: 'IE' } });
  await company.apply({ change: 'company.switch', with: { handOver: false } });
  await company.apply(issue(id));
  t.strictSame(await rows(), ids, 'a company that is switched off');
  const { accessPoint } = openFolder(t);
  await handOverOnce(engine, accessPoint, STORY_NOW);
  t.match(await stateOf(engine, company.id, note.id), { state: 'withheld', problem: 'hand_over_off' });
  await company.apply({ change: 'company.switch', with: { handOver: true } });
  t.equal(await handOverAgain(engine, { company: company.id, id: note.id, now: STORY_NOW }), 1);
  await handOverOnce(engine, accessPoint, STORY_NOW);
  t.match(await stateOf(engine, company.id, note.id), { state: 'handed_over', problem: null });
});

onEachEngine('a document that no e-invoice can express has failed', async (t, backoffice) => {
  const { engine } = backoffice;
  const company = await openSender(backoffice);
  const { id } = await issued(company, invoiceDraft({ lines: [lineIn('O')] }));
  const { accessPoint } = openFolder(t);
  await handOverOnce(engine, accessPoint, STORY_NOW);
  t.match(await stateOf(engine, company.id, id), {
    state: 'failed',
    problem: 'no_e_invoice',
    attempts: [],
  });
});

const says =
  (status: number, headers = {}, text = ''): RequestListener =>
  (_req, res) =>
    void res.writeHead(status, headers).end(text);

/** What an access point does, the problem that is told, what is kept of its words, and how long it is left alone. */
const answers: Record<
  string,
  [answer: RequestListener, problem: string, said?: string | undefined, minutes?: number]
> = {
  '500 with a text that repeats the token': [
    says(500, {}, `No: Bearer ${TOKEN} ${TOKEN}`),
    '500',
    'No: Bearer … …',
  ],
  '429 that asks for an hour': [says(429, { 'retry-after': '3600' }), '429', undefined, 60],
  '503 that asks for a year': [says(503, { 'retry-after': '31536000' }), '503', undefined, 720],
  '300 that offers others': [says(300), '300'],
  'a redirect': [says(307, { location: 'https://hooks.example.com/other' }), '307'],
  'a body without end': [
    (_req, res) => {
      res.writeHead(400, { 'content-type': 'text/plain' });
      const write = () => {
        while (!res.destroyed && res.write('x'.repeat(65_536)));
      };
      res.on('drain', write);
      write();
    },
    '400',
    `${'x'.repeat(299)}…`,
  ],
  'an end in the middle of the head': [(req) => void req.socket.end('HTTP/1.1 202 Accep'), 'reset'],
  'no answer': [() => undefined, 'timeout'],
  'an end of the connection': [(req) => void req.socket.destroy(), 'reset'],
};

t.test('whatever an access point answers, the document is tried again', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const backoffice = createTestBackoffice(database);
  const { engine } = backoffice;
  const { accessPoint, requests, behaviour } = await startAccessPoint(t, 2_000);
  for (const [what, [answer, problem, said, minutes = 1]] of Object.entries(answers)) {
    const waitMs = minutes * MINUTE_MS;
    const { company, invoice } = await startSender(backoffice);
    behaviour.answer = answer;
    await handOverOnce(engine, accessPoint, STORY_NOW);
    const found = await stateOf(engine, company.id, invoice.id);
    const dueAt = after(waitMs).toISOString();
    t.match(found, { state: 'waiting', problem, failureCount: 1, dueAt, attempts: [{ problem }] }, what);
    t.equal(found.attempts[0]?.answer, said, what);
    behaviour.answer = says(299);
    requests.length = 0;
    await handOverOnce(engine, accessPoint, after(waitMs - 1));
    t.equal(requests.length, 0, `${what}: not sooner`);
    await handOverOnce(engine, accessPoint, after(waitMs));
    t.match(await stateOf(engine, company.id, invoice.id), { state: 'handed_over', attemptCount: 2 }, what);
    await handOverOnce(engine, accessPoint, after(DAY_MS));
    const [request, ...others] = requests;
    t.strictSame(others, [], `${what}: once`);
    t.match(request?.headers, {
      'content-type': 'application/xml',
      'user-agent': 'Acme-Documents/1',
      authorization: `Bearer ${TOKEN}`,
      'idempotency-key': `"${company.id}.${invoice.id}"`,
    });
    t.ok(request?.body.startsWith('<?xml') && request.body.includes(`>${invoice.number}<`), what);
  }
});

onEachEngine('a document that is never taken fails after the schedule', async (t, backoffice) => {
  const { engine } = backoffice;
  const { company, invoice } = await startSender(backoffice);
  const { accessPoint, requests, behaviour } = await startAccessPoint(t);
  behaviour.answer = says(503);
  let nextAt = STORY_NOW;
  for (let attempt = 1; attempt < 7; attempt += 1) {
    await handOverOnce(engine, accessPoint, nextAt);
    nextAt = new Date((await stateOf(engine, company.id, invoice.id)).dueAt);
    await handOverOnce(engine, accessPoint, new Date(nextAt.getTime() - 1));
    t.equal(requests.length, attempt, 'not sooner than it is due');
  }
  for (const at of [nextAt, after(22 * 60 * MINUTE_MS)]) await handOverOnce(engine, accessPoint, at);
  t.match(await stateOf(engine, company.id, invoice.id), {
    state: 'failed',
    problem: '503',
    failureCount: 7,
  });
  t.equal(requests.length, 7);
  t.equal(
    new Set(requests.map(({ headers, body }) => `${String(headers['idempotency-key'])}${body}`)).size,
    1,
  );
  behaviour.answer = says(200);
  t.equal(await handOverAgain(engine, { company: company.id, now: after(DAY_MS) }), 1, 'all that failed');
  // A payment doesn't change what was issued.
  await company.apply({
    change: 'payment.record',
    with: { invoiceId: invoice.id, currency: 'EUR', amountMinor: 100, method: 'card' },
  });
  await handOverOnce(engine, accessPoint, after(DAY_MS));
  t.match(await stateOf(engine, company.id, invoice.id), { state: 'handed_over', attemptCount: 8 });
  t.equal(requests.at(-1)?.body, requests[0]?.body);
  t.equal(await handOverAgain(engine, { company: company.id, now: after(DAY_MS) }), 0);
  await engine.run("UPDATE hand_overs SET state = 'failed', attempt_count = 99");
  t.equal(await handOverAgain(engine, { company: company.id, id: invoice.id, now: after(DAY_MS) }), 1);
  await engine.run("UPDATE hand_overs SET state = 'failed', attempt_count = 100");
  const again = handOverAgain(engine, { company: company.id, id: invoice.id, now: after(DAY_MS) });
  await t.rejects(again, /has had 100 attempts/);
  const other = handOverAgain(engine, { company: company.id, id: randomUUID(), now: after(DAY_MS) });
  await t.rejects(other, /has no document .* to hand over/);
});

onEachEngine('two processes at once hand each document over once', async (t, backoffice) => {
  const { engine, url } = backoffice;
  const company = await openSender(backoffice);
  for (let count = 0; count < 12; count += 1) await issued(company, invoiceDraft());
  const { accessPoint, requests } = await startAccessPoint(t);
  await using other = await openEngine(url);
  await Promise.all([engine, other].map((one) => handOverOnce(one, accessPoint, STORY_NOW)));
  await Promise.all([engine, other].map((one) => handOverOnce(one, accessPoint, STORY_NOW)));
  const states = await engine.run('SELECT state, problem FROM hand_overs');
  t.ok(
    states.every(({ state }) => state === 'handed_over'),
    JSON.stringify(states),
  );
  const keys = requests.map(({ headers }) => headers['idempotency-key']);
  t.equal(keys.length, 12);
  t.equal(new Set(keys).size, 12);
});

onEachEngine('a process that dies with a document leaves it to another', async (t, backoffice) => {
  const { engine } = backoffice;
  const { company, invoice } = await startSender(backoffice);
  const key = { company: company.id, id: invoice.id };
  const { accessPoint, requests } = await startAccessPoint(t);
  const take = (at: Date) =>
    leaseDue(
      engine,
      { queue: 'hand_overs', ...key },
      { lease: at.toISOString(), now: at, until: new Date(at.getTime() + MINUTE_MS) },
      prepareHandOver,
    );
  t.match(await take(STORY_NOW), { state: 'waiting', attemptCount: 1 });
  t.equal(await take(after(MINUTE_MS - 1)), undefined, 'its lease holds');
  await t.rejects(handOverAgain(engine, { ...key, now: STORY_NOW }), /is being sent\. Wait/);
  await handOverOnce(engine, accessPoint, after(MINUTE_MS));
  t.equal(requests.length, 1);
  t.match(await stateOf(engine, ...keyOf(key)), { state: 'handed_over', attemptCount: 2, failureCount: 0 });
  const late = { state: 'failed', problem: 'reset', dueAt: STORY_NOW };
  await engine.transaction((transaction) =>
    settleDue(transaction, { queue: 'hand_overs', ...key }, STORY_NOW.toISOString(), late),
  );
  t.match(await stateOf(engine, ...keyOf(key)), { state: 'handed_over' }, 'what it says later doesn’t count');

  await engine.run("UPDATE hand_overs SET state = 'sending', attempt_count = 100");
  await handOverOnce(engine, accessPoint, after(DAY_MS));
  t.match(await stateOf(engine, ...keyOf(key)), { state: 'failed', problem: 'interrupted' });
  await engine.run("UPDATE hand_overs SET state = 'waiting', attempt_count = 1");
  await engine.run(`UPDATE hand_overs SET due_at = '${after(0).toISOString()}'`);
  await purge(engine, () => after(30 * DAY_MS - 1));
  await handOverOnce(engine, accessPoint, after(30 * DAY_MS));
  t.match(await stateOf(engine, ...keyOf(key)), { state: 'waiting' }, 'what was due a month ago isn’t sent');
  t.equal(requests.length, 1);
  await purge(engine, () => after(30 * DAY_MS));
  const givenUp = { state: 'failed', problem: 'waited', dueAt: after(30 * DAY_MS).toISOString() };
  t.match(await stateOf(engine, ...keyOf(key)), { ...givenUp, attempts: [{ problem: null }] });
  t.equal(await handOverAgain(engine, { company: company.id, now: after(41 * DAY_MS) }), 1);
  await handOverOnce(engine, accessPoint, after(41 * DAY_MS));
  const taken = { state: 'handed_over', dueAt: after(41 * DAY_MS).toISOString() };
  t.match(await stateOf(engine, ...keyOf(key)), { ...taken, attempts: { length: 2 } });
  await purge(engine, () => after(71 * DAY_MS));
  t.match(await stateOf(engine, ...keyOf(key)), { ...taken, attempts: { length: 0 } }, 'that it was stays');
});

const keyOf = ({ company, id }: { company: string; id: string }) => [company, id] as const;
