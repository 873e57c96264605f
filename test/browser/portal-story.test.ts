import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import got from 'got';
import type { Browser, Locator, Page } from 'playwright-core';
import t from 'tap';
import type { Test } from 'tap';

import { invite } from '../../src/server/access/invitations.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { signatureOf } from '../../src/contract/delivery-request.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../_server.ts';
import { COMPANY, startPortal, type TestPortal } from '../server/portal/_portal.ts';
import { startLoop } from '../server/webhooks/_delivery-loop.ts';
import { HOST, startHttpsReceiver } from '../server/webhooks/_receivers.ts';
import { senderTo } from '../server/webhooks/_senders.ts';
import { openBrowser } from './_browser.ts';
import { axeViolations, openWindow, picture } from './_portal-browser.ts';

interface Received {
  headers: IncomingMessage['headers'];
  body: string;
}

/** A portal that delivers, over TLS, to a receiver of this machine. */
async function startDelivering(t: Test): Promise<{ portal: TestPortal; received: Received[] }> {
  const received: Received[] = [];
  const receiver = await startHttpsReceiver((req, res) => {
    void text(req).then((body) => {
      received.push({ headers: req.headers, body });
      res.statusCode = 204;
      res.end();
    });
  });
  t.teardown(() => receiver[Symbol.asyncDispose]());
  // The page that answers a ping waits for its result, so that nothing here has to.
  const portal = await startPortal(t, 'sqlite', {
    hasRecords: true,
    portal: { ...PORTAL_SETTINGS, pingWaitMs: 60_000 },
  });
  const sender = senderTo(receiver, { deadlineMs: 10_000 });
  const loop = startLoop(portal.engine, sender);
  t.teardown(async () => {
    await loop[Symbol.asyncDispose]();
    await sender[Symbol.asyncDispose]();
  });
  return { portal, received };
}

/** The secret that is shown once, under a label. */
function secretOf(page: Page, label: string): Locator {
  return page.getByRole('status').getByLabel(label, { exact: true });
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click();
}

async function accept(
  page: Page,
  { url, engine }: TestPortal,
  { code, hasScripts }: { code: string; hasScripts: boolean },
): Promise<void> {
  await page.goto(`/portal/invitation#${code}`);
  // A script sends it at once.
  if (!hasScripts) {
    await page.getByLabel('Code of your link').fill(`${url}/portal/invitation#${code}`);
    await press(page, 'Continue');
  }
  await page.getByLabel('Your name').fill('Nuala Brennan');
  await page.getByLabel('New password', { exact: true }).fill('slow kettles on a low flame');
  await page.getByLabel('New password again').fill('slow kettles on a low flame');
  await press(page, 'Create my account');
  await page.waitForURL('/portal');
  const [session] = await engine.run('SELECT COUNT(*) AS count FROM portal_sessions');
  if (Number(session?.count) !== 2) throw new Error('Nobody was signed in.');
}

async function tellStory(t: Test, browser: Browser, javaScript: boolean): Promise<void> {
  const { portal, received } = await startDelivering(t);
  const { page, complaints } = await openWindow(t, { browser, portal }, { javaScript, signIn: false });
  const link = { company: COMPANY, email: 'nuala@brennan.example', scopes, mayInvite: false };
  const { token } = await invite(portal.engine, { ...link, by: 'operator', now: STORY_NOW });
  await accept(page, portal, { code: token, hasScripts: javaScript });

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('link', { name: 'Create a key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Accounts');
  for (const scope of ['jobs:read', 'invoices:read']) await page.locator(`[value="${scope}"]`).check();
  await press(page, 'Create');
  const key = (await secretOf(page, 'API key').textContent()) ?? '';
  const read = () =>
    got(`${portal.url}/api/v1/jobs?limit=1`, {
      headers: { authorization: `Bearer ${key}` },
      throwHttpErrors: false,
      retry: { limit: 0 },
      responseType: 'json',
    });
  t.match(await read(), { statusCode: 200, body: { data: [{ id: 'job_0001' }] } }, 'the key reads the API');

  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('link', { name: 'Register a webhook' }).click();
  await page.getByLabel('Address').fill(`https://${HOST}/from-fieldledger`);
  await page.getByLabel('invoice.paid').check();
  await press(page, 'Register');
  const secret = (await secretOf(page, 'Signing secret').textContent()) ?? '';
  t.match(secret, /^whsec_/);
  t.equal(await page.getByRole('button', { name: /^Copy/ }).count(), Number(javaScript));
  if (javaScript) {
    await picture(page, 'story-registered');
    t.strictSame(await axeViolations(page), [], 'also where a secret is shown');
  }

  await press(page, 'Send a ping');
  await page.getByText('The answer was 204.').waitFor();
  if (javaScript) await picture(page, 'story-pinged');
  const [ping] = received;
  t.equal(received.length, 1);
  const signature = String(ping?.headers['service-signature']);
  const at = new Date(Number(/t=(\d+)/.exec(signature)?.[1]) * 1000);
  t.equal(signature, signatureOf(secret, ping?.body ?? '', at), 'the receiver can check it with the secret');

  await page.getByRole('link', { name: 'See its deliveries' }).click();
  await page.getByRole('link', { name: /^ping/ }).click();
  await page.getByRole('heading', { name: 'Delivery of ping' }).waitFor();
  t.equal(await page.locator('#body').textContent(), ping?.body, 'the delivery shows the body as it came');
  t.equal(await page.getByText(signature).count(), 1, 'and the signature');

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.locator('summary', { hasText: 'Revoke' }).click();
  await press(page, 'Revoke it');
  await page.getByText('is revoked').waitFor();
  t.match(await read(), { statusCode: 401, body: { error: { code: 'revoked_key' } } });
  t.strictSame(complaints, [], 'nothing was asked for elsewhere, and nothing complained');

  await page.getByRole('link', { name: 'Audit trail' }).click();
  const rows = await page.getByRole('row').filter({ hasText: 'Nuala Brennan' }).allInnerTexts();
  const told = ['Revoked an API key', 'Pinged a webhook', 'Registered a webhook', 'Created an API key'];
  for (const [index, authorised] of told.entries()) t.match(rows[index], authorised);
}

t.test('the whole story of an administrator, from the invitation to a revoked key', async (t) => {
  const browser = await openBrowser(t);
  await t.test('with scripts', (t) => tellStory(t, browser, true));
  await t.test('without scripts', (t) => tellStory(t, browser, false));
});
