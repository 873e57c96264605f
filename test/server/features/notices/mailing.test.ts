// Long: a mail server that says nothing is waited for as long as one may be.
import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

import t from 'tap';

import { invite } from '../../../../src/server/features/people/invitations.ts';
import { mailOf } from '../../../../src/server/features/notices/mail.ts';
import { addNotice, listNotices } from '../../../../src/server/store/accounts/notice-rows.ts';
import { type DueKey, leaseDue, listDue } from '../../../../src/server/store/outbox.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { updateAdministratorRow } from '../../../../src/server/store/accounts/administrator-rows.ts';
import { engineNames, STORY_NOW } from '../../../_server.ts';
import { addAdministrator, COMPANY, EMAIL, makeKey, openCompany, signedInAs } from '../../portal/_portal.ts';
import { createAuthority } from '../../sending/_certificates.ts';
import { mailOnce, startMailServer, words } from './_mail-server.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const after = (ms: number) => new Date(STORY_NOW.getTime() + ms);

const state = async (engine: Engine) => {
  const rows = await engine.run(
    'SELECT kind, state, problem, attempt_count FROM notices ORDER BY created_at, id',
  );
  return rows.map((row) => Object.values(row).join(' '));
};

/** What a mail says of itself and its company, where the test makes it without a notice in a database. */
const company = { name: 'Brennan', timeZone: 'Europe/Dublin' };
const [from, baseUrl] = ['n@acme.example', 'https://acme.example'];
const settings = { from, serviceName: 'Acme', baseUrl, stopCode: 's' };

for (const name of engineNames)
  t.test(`${name}: what a mail server does, and what becomes of the mail`, async (t) => {
    const { engine, administrator: aoife } = await openCompany(t, name);
    t.afterEach(() => engine.run('DELETE FROM notices'));
    const server = await startMailServer(t);
    const { behaviour, mails } = server;
    const nowhere = 'smtp://127.0.0.1:1';

    await t.test('one that is down is asked again, for five days at most', async (t) => {
      await makeKey(engine);
      await mailOnce(engine, nowhere, STORY_NOW);
      t.strictSame(await state(engine), ['key.created waiting ESOCKET 1']);
      await mailOnce(engine, nowhere, after(59_000));
      t.strictSame(await state(engine), ['key.created waiting ESOCKET 1'], 'not sooner than in a minute');
      for (let ms = MINUTE_MS; ms < 6 * DAY_MS; ms += 30 * MINUTE_MS)
        await mailOnce(engine, nowhere, after(ms));
      const [kept = ''] = await state(engine);
      t.match(kept, /^key\.created failed ESOCKET \d+$/);
      const attempts = Number(kept.split(' ').at(-1));
      t.ok(attempts > 40 && attempts < 65, `${attempts} attempts`);
      t.match(await listNotices(engine, aoife), [{ state: 'failed', problem: 'ESOCKET' }]);
    });

    await t.test('one that is up again gets what it missed', async (t) => {
      await makeKey(engine);
      await mailOnce(engine, nowhere, STORY_NOW);
      await mailOnce(engine, server.url, after(2 * MINUTE_MS));
      t.strictSame(await state(engine), ['key.created sent  2']);
      t.match(mails.splice(0), [{ to: [EMAIL] }]);
    });

    await t.test('one that refuses a recipient for now is asked again, and for good it is not', async (t) => {
      await addAdministrator(engine, { email: 'conor@brennan.example' });
      await engine.run('DELETE FROM notices');
      behaviour.refuse = (to) => (to === EMAIL ? 451 : 550);
      await makeKey(engine);
      await mailOnce(engine, server.url, STORY_NOW);
      behaviour.refuse = () => undefined;
      await mailOnce(engine, server.url, after(2 * MINUTE_MS));
      t.strictSame((await state(engine)).toSorted(), ['key.created failed 550 1', 'key.created sent  2']);
      t.match(mails.splice(0), [{ to: [EMAIL] }]);
      await engine.run("UPDATE administrators SET disabled_at = '2026-11-20' WHERE email LIKE 'conor%'");
    });

    await t.test(
      'what a process took that ended is sent when its lease is over, and not before',
      async (t) => {
        await makeKey(engine);
        const [due] = await listDue(engine, 'notices', STORY_NOW, 1);
        const lease = { lease: 'dead', now: STORY_NOW, until: after(8 * MINUTE_MS) };
        await leaseDue(engine, due as DueKey, lease, async () => ({ state: 'sending' }));
        await mailOnce(engine, server.url, after(8 * MINUTE_MS - 1));
        t.strictSame(await state(engine), ['key.created sending  1']);
        await mailOnce(engine, server.url, after(8 * MINUTE_MS));
        t.strictSame(await state(engine), ['key.created sent  2']);
        t.equal(mails.splice(0).length, 1);
      },
    );

    await t.test('one that refuses the password is the operator’s matter', async (t) => {
      behaviour.isLockedOut = true;
      await makeKey(engine);
      await mailOnce(engine, server.url, STORY_NOW);
      t.strictSame(await state(engine), ['key.created waiting 535 1']);
      behaviour.isLockedOut = false;
      await mailOnce(engine, server.url, after(2 * MINUTE_MS));
      t.equal(mails.splice(0).length, 1);
    });

    await t.test('a mail that nobody wants any more isn’t sent', async (t) => {
      await makeKey(engine);
      await engine.transaction((transaction) =>
        updateAdministratorRow(transaction, aoife, { mutedNotices: ['key.created'] }),
      );
      await mailOnce(engine, server.url, STORY_NOW);
      t.strictSame(await state(engine), ['key.created muted  1']);
      const notice = { company: COMPANY, details: {}, now: STORY_NOW, administrator: aoife.id };
      await engine.transaction((transaction) => addNotice(transaction, { ...notice, kind: 'reset.used' }));
      await mailOnce(engine, server.url, STORY_NOW);
      t.match(mails.splice(0), [{ to: [EMAIL] }], 'what can’t be stopped is');
    });

    await t.test('an invitation has a link that was in no database, or its maker is told', async (t) => {
      behaviour.refuse = (to) => (to === 'no@one.example' ? 550 : undefined);
      const by = await signedInAs(engine, aoife);
      const options = { company: COMPANY, scopes: ['jobs:read'], mayInvite: false, isMailed: true, by };
      for (const email of ['new@brennan.example', 'no@one.example'])
        await invite(engine, { ...options, email, now: STORY_NOW });
      const kept = JSON.stringify(await engine.run('SELECT * FROM notices, portal_links'));
      await mailOnce(engine, server.url, STORY_NOW);
      await mailOnce(engine, server.url, STORY_NOW);
      const [invitation, refused] = mails.splice(0);
      const [, token = ''] = /\/portal\/invitation#(\S+)/.exec(invitation?.text ?? '') ?? [];
      t.match(invitation, { to: ['new@brennan.example'], text: /Aoife Brennan invites you to join/ });
      t.notOk(kept.includes(token) || token.length < 40);
      t.match(refused, { to: [EMAIL], text: /refused the invitation to no@one\.example/ });
      await engine.run('DELETE FROM notices');
      for (let count = 2; count < 20; count += 1)
        await invite(engine, { ...options, email: 'new@brennan.example', now: STORY_NOW });
      const one = { ...options, email: 'new@brennan.example', now: STORY_NOW };
      await t.rejects(invite(engine, one), /We can email 20 of your invitations a day/);
      t.equal((await engine.run("SELECT id FROM portal_links WHERE email LIKE 'new%'")).length, 1);
    });
  });

t.test(
  'a mail server that is slow, or says nothing, is waited for 20 seconds',
  { timeout: 60_000 },
  async (t) => {
    const { engine } = await openCompany(t);
    const silent = createServer().listen(0, '127.0.0.1');
    t.teardown(() => silent.close());
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as { port: number };
    await makeKey(engine);
    const startedAt = performance.now();
    await mailOnce(engine, `smtp://127.0.0.1:${port}`, STORY_NOW);
    t.ok(performance.now() - startedAt < 25_000);
    t.match(await state(engine), [/^key\.created waiting (?:EABORT|ETIMEDOUT) 1$/]);
  },
);

t.test('whoever stopped mails of failing webhooks isn’t told by mail that they work again', async (t) => {
  const { engine, administrator: aoife } = await openCompany(t);
  await addAdministrator(engine, { email: 'conor@brennan.example' });
  const server = await startMailServer(t);
  await engine.transaction(async (transaction) => {
    await updateAdministratorRow(transaction, aoife, { mutedNotices: ['webhook.failing'] });
    const notice = { company: COMPANY, kind: 'webhook.recovered', details: {}, now: STORY_NOW } as const;
    await addNotice(transaction, notice);
  });
  await mailOnce(engine, server.url, STORY_NOW);
  const told = server.mails.flatMap(({ to }) => to);
  t.strictSame(told, ['conor@brennan.example']);
});

t.test('a password goes over TLS alone, but to this machine itself', async (t) => {
  const { engine } = await openCompany(t);
  const server = await startMailServer(t);
  await makeKey(engine);
  await mailOnce(engine, server.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'), STORY_NOW);
  t.match(await state(engine), [/^key\.created waiting \w+ 1$/]);
  t.strictSame(server.mails, []);
});

t.test('a mail goes to a server whose certificate is trusted and its own, and to no other', async (t) => {
  const { engine } = await openCompany(t);
  const authority = createAuthority();
  const own = await startMailServer(t, { tls: authority.issue({ names: ['localhost'] }) });
  const other = await startMailServer(t, { tls: authority.issue({ names: ['mail.example'] }) });
  await makeKey(engine);
  await mailOnce(engine, own.url, STORY_NOW);
  t.match(await state(engine), [/^key\.created waiting ESOCKET 1$/], 'nobody trusts the authority');
  const known = getCACertificates('default');
  setDefaultCACertificates([...known, authority.ca]);
  t.teardown(() => setDefaultCACertificates(known));
  await mailOnce(engine, other.url, after(2 * MINUTE_MS));
  t.match(await state(engine), [/^key\.created waiting ESOCKET 2$/], 'the certificate is somebody else’s');
  await mailOnce(engine, own.url, after(60 * MINUTE_MS));
  t.strictSame(await state(engine), ['key.created sent  3']);
  t.strictSame([own.mails.length, other.mails.length], [1, 0]);
});

const hostile = {
  'a line break': 'Ledger\r\nBcc: victim@example.com\r\n\r\n<h1>Hi',
  HTML: '<img src=x onerror=alert(1)><a href="https://evil.example">Click</a>',
  'a link': 'Visit https://evil.example/login or www.evil.example now',
  'a very long name': 'x'.repeat(5_000),
  'right-to-left letters': 'חברת אינסטלציה',
  'what turns the direction': 'moc.live\u202e//:sptth',
  'nothing that is seen': '\u0000\u2028\u2029',
};

t.test('whatever a name holds, a mail stays one mail, and has no link but ours', async (t) => {
  const { engine } = await openCompany(t);
  const server = await startMailServer(t);
  for (const [what, name] of Object.entries(hostile)) {
    server.mails.length = 0;
    const details = { by: name, name, 'key id': name, scopes: name, host: 'a.example', webhook: 'whk_1' };
    // SQLite keeps every character; a company's name comes from the operator or the feed.
    await engine.run('UPDATE companies SET name = ?', [name.replaceAll('\0', '')]);
    const notice = { company: COMPANY, details, now: STORY_NOW };
    await engine.transaction((transaction) =>
      addNotice(transaction, { ...notice, kind: 'webhook.registered' }),
    );
    await mailOnce(engine, server.url, STORY_NOW);
    const [mail] = server.mails;
    const { headers = new Map<string, string>(), text = '', html = '' } = mail ?? {};
    t.strictSame(mail?.to, [EMAIL], what);
    const names =
      'auto-submitted content-type date from list-unsubscribe list-unsubscribe-post message-id mime-version subject to';
    t.equal([...headers.keys()].sort().join(' '), names, what);
    const subject = words(headers.get('subject'));
    t.ok(subject.startsWith('A webhook to a.example was registered'), subject);
    t.notMatch(subject + text, /[\u202a-\u202e\u2028\u2029\0]/, what);
    const links = [...`${text} ${html}`.matchAll(/https?:\/\/[^\s"<]+|www\.\w+/g)].map(([link]) => link);
    t.ok(links.length >= 4 && links.every((link) => link.startsWith('https://f.example/portal/')), what);
    const tags = [...html.matchAll(/<(\w+)/g)].map(([, tag]) => tag).filter((tag) => tag !== 'bdi');
    t.equal(tags.join(' '), 'html body p strong h1 p p a hr p a');
  }
});

t.test('a mail brings the logo, which no mail program has to load', async (t) => {
  const details = { by: 'Aoife', name: 'Ledger', 'key id': 'k', scopes: 'jobs:read' };
  const notice = {
    ...({ company: 'c', id: 'n', administrator: 'a', kind: 'key.created', details, createdAt: '' } as const),
    ...({ state: 'sending', attemptCount: 1, problem: null } as const),
  };
  const to = { to: 'a@b.example', company };
  const mail = mailOf(notice, to, { ...settings, logo: 'data:image/png;base64,AAEC' });
  t.match(mail.attachments, [{ cid: 'logo', content: 'AAEC', encoding: 'base64', contentType: 'image/png' }]);
  t.match(mail.html, '<img src="cid:logo" alt="" height="40" /> <strong>Acme</strong>');
  const without = mailOf(notice, to, settings);
  t.strictSame(without.attachments, []);
  t.notMatch(without.html, '<img');
});

t.test('a mail program can stop further ones with one request', async (t) => {
  const { engine, administrator: aoife } = await openCompany(t);
  await makeKey(engine);
  const [notice] = await listNotices(engine, aoife);
  if (!notice) throw new Error('There is no notice.');
  const headersOf = (kind: typeof notice.kind) =>
    mailOf({ ...notice, kind }, { to: EMAIL, company }, settings).headers;
  t.strictSame(headersOf('key.created'), {
    'Auto-Submitted': 'auto-generated',
    'List-Unsubscribe': '<https://acme.example/portal/notices/stop/s>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  t.strictSame(headersOf('reset.used'), { 'Auto-Submitted': 'auto-generated' }, 'not of one’s own account');
});
