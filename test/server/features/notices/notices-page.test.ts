import type { Test } from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { inviteToReset } from '../../../../src/server/features/people/invitations.ts';
import { until } from '../../../_command.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../../_server.ts';
import { addWebhook } from '../webhooks/_registered.ts';
import { type Mail, mailOnce, startMailServer } from './_mail-server.ts';
import {
  addAdministrator,
  COMPANY,
  EMAIL,
  makeKey,
  NEW_PASSWORD,
  onEachEngine,
  onSqlite,
  PASSWORD,
  type TestPortal,
  textOf,
} from '../../portal/_portal.ts';

const mailing = { portal: { ...PORTAL_SETTINGS, isMailing: true }, trustedProxies: 1 };
const OTHER = 'other';

/** Mails what is due, and gives what came. */
async function mailbox(t: Test, { engine }: TestPortal): Promise<() => Promise<Mail[]>> {
  const server = await startMailServer(t);
  return async () => {
    await mailOnce(engine, server.url, STORY_NOW);
    return server.mails.splice(0);
  };
}

/** Asks for a link from a network of its own, and waits for what is done after the answer. */
async function ask(portal: TestPortal, email: string, address: string) {
  const guest = portal.visitor();
  await guest.visit('/portal/forgotten');
  const { statusCode, body } = await guest.submit(
    '/portal/forgotten',
    { email },
    { 'x-forwarded-for': address },
  );
  return { statusCode, text: textOf(body) };
}

const asked = async ({ engine }: TestPortal) =>
  (await engine.run("SELECT id FROM notices WHERE kind = 'reset.asked'")).length;
const codeIn = ({ text }: Mail) => /\/portal\/invitation#(\S+)/.exec(text)?.[1] ?? '';

/** Sets a password by the code of a link. @returns the status. */
const setPassword = (portal: TestPortal, code: string) => portal.visitor().useLink(code, NEW_PASSWORD);

onEachEngine('a forgotten password is set by a mailed link', mailing, async (t, portal) => {
  const { engine, administrator } = portal;
  const look = await mailbox(t, portal);
  await portal.visitor().visit('/portal/sign-in');
  await createCompany(engine, OTHER, { name: 'Other Plumbing' }, STORY_NOW);
  await addAdministrator(engine, { company: OTHER, email: EMAIL });
  await addAdministrator(engine, { email: 'gone@brennan.example' });
  await engine.run("UPDATE administrators SET disabled_at = '2026-11-20' WHERE email LIKE 'gone%'");

  await t.test('with the same answer for an unknown address and for somebody removed', async (t) => {
    const answers = [];
    for (const email of ['nobody@brennan.example', 'gone@brennan.example', ` ${EMAIL.toUpperCase()}`])
      answers.push(await ask(portal, email, '192.0.2.1'));
    t.equal(answers[0]?.statusCode, 200);
    for (const answer of answers) t.strictSame(answer, answers[0]);
    await until(async () => (await asked(portal)) === 2);
    const mails = await look();
    t.strictSame(
      mails.map(({ to }) => to),
      [[EMAIL], [EMAIL]],
      'one for each company',
    );
    t.match(mails.map(({ text }) => text).join(), /Other Plumbing/);
    const [code = '', other = ''] = mails.map(codeIn);
    const raced = await Promise.all([setPassword(portal, code), setPassword(portal, code)]);
    t.strictSame(raced.sort(), [303, 422], 'once, also of two at once');
    t.equal(await setPassword(portal, code), 422);
    t.equal(await setPassword(portal, other), 303, 'the other company’s link is another');
    const after = await look();
    t.ok(after.length === 2 && after.every(({ text }) => text.startsWith('A new password was set')));
    await engine.run('DELETE FROM notices');
    await engine.run(`UPDATE administrators SET disabled_at = '2026-11-20' WHERE company = '${OTHER}'`);
  });

  await t.test('of two asked for at once the later counts, and the operator’s link stays', async (t) => {
    const { token } = await inviteToReset(engine, { company: COMPANY, email: EMAIL, now: STORY_NOW });
    await Promise.all([ask(portal, EMAIL, '192.0.2.2'), ask(portal, EMAIL, '192.0.2.3')]);
    await until(async () => (await asked(portal)) === 2);
    await look();
    const links = await engine.run(
      `SELECT made_by FROM portal_links WHERE administrator = '${administrator.id}'`,
    );
    t.strictSame(new Set(links.map(({ made_by }) => made_by)), new Set([null, administrator.id]));
    t.equal(links.length, 2);
    t.equal(await setPassword(portal, token), 303);
    const left = await engine.run(`SELECT id FROM portal_links WHERE administrator = '${administrator.id}'`);
    t.strictSame(left, [], 'a new password ends the links of before');
    t.equal(await asked(portal), 2);
  });

  await t.test('three times in an hour, and one network asks for twenty', async (t) => {
    // The two above and the one before them were the three.
    t.equal((await ask(portal, EMAIL, '192.0.2.4')).statusCode, 200);
    t.equal(await asked(portal), 2);
    for (let count = 0; count < 19; count += 1) await ask(portal, `nobody-${count}@example.com`, '192.0.2.4');
    t.equal((await ask(portal, 'somebody@example.com', '192.0.2.4')).statusCode, 429);
    t.equal((await ask(portal, EMAIL, '192.0.2.5')).statusCode, 200, 'nobody else is refused');
  });
});

onSqlite('a sign-in with a new browser is told of, and is told in one mail', mailing, async (t, portal) => {
  const look = await mailbox(t, portal);
  const browser = await portal.signedIn();
  const [mail, ...more] = await look();
  t.match(mail, {
    to: [EMAIL],
    text: /^Somebody signed in to your account with .* from the address 127\.0/,
  });
  t.strictSame(more, []);
  const again = portal.visitor();
  for (const [name, value] of browser.cookies) if (/browser/.test(name)) again.cookies.set(name, value);
  t.equal((await again.signIn(EMAIL, PASSWORD)).statusCode, 303);
  t.strictSame(await look(), [], 'a known browser isn’t');
});

onSqlite(
  'somebody with accounts in two companies is told in the one that they enter',
  mailing,
  async (t, portal) => {
    const { engine } = portal;
    const look = await mailbox(t, portal);
    await createCompany(engine, OTHER, { name: 'Other Plumbing' }, STORY_NOW);
    await addAdministrator(engine, { company: OTHER, email: EMAIL, password: PASSWORD });
    const visitor = await portal.signedIn();
    t.strictSame(await look(), [], 'in neither yet');
    for (const visit of [1, 2]) {
      await visitor.visit('/portal/companies');
      await visitor.submitAndFollow('/portal/companies', { company: OTHER });
      t.match(await look(), visit === 1 ? [{ text: /Other Plumbing/ }] : []);
    }
  },
);

onSqlite(
  'what is mailed is chosen on the account’s page, or stopped by a mail',
  mailing,
  async (t, portal) => {
    const { engine } = portal;
    const look = await mailbox(t, portal);
    const visitor = await portal.signedIn();
    await look();
    const choose = async (notices: string[]) => {
      await visitor.visit('/portal/account');
      return visitor.submitAndFollow('/portal/account/notices', { notices });
    };
    await choose(['webhook.failing']);
    t.match(visitor.text, /Your choice of emails is saved/);
    t.strictSame(
      [...visitor.shown.matchAll(/value="([\w.]+)"\s+checked/g)].map(([, value]) => value),
      ['webhook.failing'],
    );
    await makeKey(engine, 'K');
    t.strictSame(await look(), []);
    t.match(
      await visitor.read('/portal/notices'),
      /An API key was created The operator created the key “K”.* Not emailed, as you chose/,
    );

    await choose(['webhook.failing', 'key.created']);
    await makeKey(engine, 'K');
    const [mail] = await look();
    const [, link = ''] =
      /<https:\/\/f\.example(.*)>/.exec(mail?.headers.get('list-unsubscribe') ?? '') ?? [];
    const scanner = portal.visitor();
    t.equal((await scanner.visit(link)).statusCode, 200);
    await makeKey(engine, 'K');
    t.equal((await look()).length, 1, 'opening the link stops nothing');
    t.equal((await scanner.send(`${link}x`, {})).statusCode, 422);
    // RFC 8058 section 3.1: no cookie, from elsewhere, with one field.
    const fields = { 'List-Unsubscribe': 'One-Click' };
    const headers = { origin: 'https://mail.example', 'sec-fetch-site': 'cross-site' };
    t.equal((await portal.visitor().send(link, fields, headers)).statusCode, 200);
    t.equal((await portal.visitor().send(link, fields, headers)).statusCode, 200, 'twice is as good');
    await makeKey(engine, 'K');
    t.strictSame(await look(), []);
    t.match(await engine.run(`SELECT muted_notices FROM administrators WHERE email = '${EMAIL}'`), [
      { muted_notices: '["delivery.failed","webhook.registered","invitation.accepted","key.created"]' },
    ]);
    t.match(await visitor.read('/portal/notices'), /Mailed/);
  },
);

onSqlite('an invitation is mailed, or its link is shown', mailing, async (t, portal) => {
  const look = await mailbox(t, portal);
  const visitor = await portal.signedIn();
  await look();
  const invite = async (email: string, more: object) => {
    await visitor.visit('/portal/people');
    await visitor.submitAndFollow('/portal/people/invite', { email, scopes: 'jobs:read', ...more });
  };
  await invite('one@brennan.example', { mail: 'yes' });
  t.match(visitor.text, /one@brennan\.example is invited, and we’ve emailed the link/);
  t.notMatch(visitor.shown, /invitation#/);
  const [mail] = await look();
  const guest = portal.visitor();
  await guest.openLink(mail ? codeIn(mail) : '');
  t.match(guest.text, /Join Brennan/);
  await invite('two@brennan.example', {});
  t.match(visitor.shown, /invitation#/);
  t.strictSame(await look(), []);
});

onSqlite(
  'without a mail server the portal shows notices and says that nobody is mailed',
  async (t, portal) => {
    const visitor = await portal.signedIn();
    t.match(await visitor.read('/portal'), /Receivables Notices \(1\) People/);
    t.match(
      await visitor.read('/portal/notices'),
      /No emails are sent.* A sign-in from a new browser .* Not emailed/,
    );
    t.match(
      await visitor.read('/portal/account'),
      /Receivables Notices People.*No emails are sent/,
      'read once',
    );
    t.notMatch(await visitor.read('/portal/people'), /Mail it to them/);
    const guest = portal.visitor();
    await guest.visit('/portal/sign-in');
    t.equal(await guest.force('/portal/forgotten', { email: EMAIL }), 404);
    t.match(await guest.read('/portal/forgotten'), /Ask the operator of this service for a link/);
  },
);

onEachEngine('the others are told who took something away', async (t, portal) => {
  const { engine } = portal;
  const { visitor: conor } = await portal.join({ scopes: ['jobs:read'] });
  const { id: gone } = await addAdministrator(engine, { email: 'gone@brennan.example', name: 'Gone' });
  const pays = await addWebhook(engine, { url: 'https://pay.example.com/', events: ['invoice.paid'] });
  const plans = await addWebhook(engine, { url: 'https://plan.example.com/', events: ['job.created'] });
  const key = await makeKey(engine, 'Ledger');
  const aoife = await portal.signedIn();
  await aoife.visit('/portal/people');
  t.match(await aoife.act(`/portal/people/${gone}/remove`), /Gone no longer has access/);
  await aoife.visit('/portal/keys');
  await aoife.act(`/portal/keys/${key.id}/revoke`);
  for (const { id } of [pays, plans])
    for (const act of ['pause', 'delete']) {
      await aoife.visit(`/portal/webhooks/${id}`);
      await aoife.act(`/portal/webhooks/${id}/${act}`);
    }
  await conor.visit('/portal/notices');
  for (const sentence of [
    /An administrator was removed Aoife Brennan removed Gone, gone@brennan\.example,/,
    /An API key was revoked Aoife Brennan revoked the key “Ledger”/,
    /The webhook to plan\.example\.com was paused Aoife Brennan paused/,
    /The webhook to plan\.example\.com was deleted Aoife Brennan deleted/,
  ])
    t.match(conor.text, sentence);
  t.notMatch(conor.text, 'pay.example.com is', 'whose events this administrator may not see');
  t.notMatch(await aoife.read('/portal/notices'), /was removed|was revoked|is paused|is deleted/);
});
