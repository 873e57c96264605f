// Long: a browser makes, changes and ends keys.
// It takes long because it looks at pages of keys in three ways, and in six widths.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import got from 'got';
import type { Browser, Locator, Page } from 'playwright-core';
import t from 'tap';
import type { Test } from 'tap';

import { invite } from '../../src/server/features/people/invitations.ts';
import { ACTIVE_KEYS_MAX, revokeKey } from '../../src/server/features/keys/keys.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { signatureOf } from '../../src/contract/delivery-request.ts';
import { KEY_PREFIX, PORTAL_SETTINGS, STORY_NOW } from '../_server.ts';
import {
  COMPANY,
  makeKey,
  NEW_PASSWORD,
  signedInAs,
  startPortal,
  type TestPortal,
} from '../server/portal/_portal.ts';
import { startLoop } from '../server/features/webhooks/deliveries/_delivery-loop.ts';
import { HOST, startHttpsReceiver } from '../server/sending/_receivers.ts';
import { senderTo } from '../server/sending/_senders.ts';
import { openBrowser } from './_browser.ts';
import { axeViolations, fillIn, lookAt, lookAtPages, openWindow, picture, press } from './_portal-browser.ts';

const TWO = ['jobs:read', 'customers:read'];
const browser = openBrowser(t);

t.test('a company’s keys are legible for everybody', async (t) => {
  const portal = await startPortal(t);
  const { engine, administrator } = portal;
  const by = await signedInAs(engine, administrator);
  const whole =
    'A-name-without-a-space-that-goes-on-and-on-until-it-is-a-hundred-characters-long-as-names-may-be-ok';
  for (const name of ['Ledger export', 'Dashboard in the workshop'])
    await makeKey(engine, name, { by, scopes: TWO });
  await makeKey(engine, whole, { scopes: TWO });
  const old = await makeKey(engine, 'The old export');
  await revokeKey(engine, COMPANY, old.id, STORY_NOW, by);
  await lookAtPages(t, { browser: await browser, portal }, { 'keys-some': '/portal/keys' });
  for (let made = 3; made < ACTIVE_KEYS_MAX; made += 1) await makeKey(engine, `Branch ${made}`);
  const pages = { 'keys-all': '/portal/keys', 'new-key-none-left': '/portal/keys/new' };
  await lookAtPages(t, { browser: await browser, portal }, pages);
});

for (const javaScript of [true, false])
  t.test(`a key is two lines on a phone ${javaScript ? 'with' : 'without'} scripts`, async (t) => {
    const portal = await startPortal(t);
    const { engine } = portal;
    const { id } = await makeKey(engine, 'Dashboard in the workshop', { scopes: TWO });
    await engine.run(`UPDATE api_keys SET ends_at = '2099-12-31T23:59:59.000Z' WHERE id = '${id}'`);
    const ended = await makeKey(engine, 'The old export', { scopes: TWO });
    await revokeKey(engine, COMPANY, ended.id, STORY_NOW);
    const { page, open } = await openWindow(t, { browser: await browser, portal }, { javaScript });
    const rows = page.getByRole('row').filter({ has: page.locator('details') });
    const textOf = async (row: number) => (await rows.nth(row).innerText()).replaceAll(/\s+/g, ' ');
    await open('/portal/keys');
    t.notMatch(await textOf(0), /2 scopes|Less/, 'a wide window says which scopes');
    await page.setViewportSize({ width: 375, height: 844 });
    const lines = await rows.evaluateAll((all) =>
      all.map((row) => {
        const { lineHeight, paddingTop, borderTopWidth } = getComputedStyle(row);
        const edges = 2 * (parseFloat(paddingTop) + parseFloat(borderTopWidth));
        return (row.getBoundingClientRect().height - edges) / parseFloat(lineHeight);
      }),
    );
    t.ok(lines.length === 2 && Math.max(...lines) <= 2, `${lines.join(' and ')} lines`);
    const name = 'Dashboard in the workshop';
    t.equal(await textOf(0), `${name} …${id.slice(-4)} · 2 scopes · ends 31 Dec 2099 , the key ${name}`);
    t.match(
      await textOf(1),
      /^The old export …\w{4} · 2 scopes · ended 20 Nov 2026 , the key The old export$/,
    );

    await page.getByRole('button', { name: 'Show' }).focus();
    for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
    const whole = `${name} ${KEY_PREFIX}.${COMPANY}.${id}.… Less , the key ${name} jobs:read customers:read`;
    t.ok((await textOf(0)).startsWith(whole), await textOf(0));
    for (const key of ['Tab', 'Enter']) await page.keyboard.press(key);
    t.ok(await rows.nth(0).getByLabel('Last day').isVisible(), 'the keyboard gets to what it opens');
  });

t.test('an administrator creates a key, copies it and revokes it', async (t) => {
  const portal = await startPortal(t);
  const window = await openWindow(t, { browser: await browser, portal });
  const { page, context, open, complaints } = window;
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: portal.url });
  await open('/portal/keys/new');
  await fillIn(page, { Name: 'Seen' }, 'Create the key');
  await page.getByText('Choose at least one scope').waitFor();
  t.equal(await page.getByLabel('Name').inputValue(), 'Seen', 'what was typed stays');
  await lookAt(t, window, 'new-key-refused');
  await page.getByLabel('jobs:read').check();
  await press(page, 'Create the key');
  await press(page, 'Copy API key');
  await page.getByRole('button', { name: 'Copied API key' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  t.match(copied, new RegExp(`^${KEY_PREFIX}\\.${COMPANY}\\.[0-9a-f]{12}\\.[\\w-]{43}$`));
  t.ok((await page.getByRole('status').innerText()).includes(copied));
  await lookAt(t, window, 'key-created');

  await page.goto('/portal/audit');
  await page.goBack();
  t.notOk((await page.content()).includes(copied), 'the back button doesn’t bring it back');

  await page.locator('summary', { hasText: 'Revoke the key Seen' }).click();
  await lookAt(t, window, 'key-revoking');
  await press(page, 'Revoke the key Seen');
  await page.getByText('“Seen” is revoked').waitFor();
  t.strictSame(complaints, []);
});

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

async function accept(
  page: Page,
  { url, engine }: TestPortal,
  { code, hasScripts }: { code: string; hasScripts: boolean },
): Promise<void> {
  await page.goto(`/portal/invitation#${code}`);
  // A script sends it at once.
  const link = `${url}/portal/invitation#${code}`;
  if (!hasScripts) await fillIn(page, { 'Code from your link': link }, 'Continue');
  const passwords = { 'New password': NEW_PASSWORD, 'New password again': NEW_PASSWORD };
  await fillIn(page, { 'Your name': 'Nuala Brennan', ...passwords }, 'Create my account');
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

  await press(page, 'Send a test');
  await page.getByText('The response was 204.').waitFor();
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
  await press(page, 'Revoke');
  await page.getByText('is revoked').waitFor();
  t.match(await read(), { statusCode: 401, body: { error: { code: 'revoked_key' } } });
  t.strictSame(complaints, [], 'nothing was asked for elsewhere, and nothing complained');

  await page.getByRole('link', { name: 'Audit trail' }).click();
  const rows = await page.getByRole('row').filter({ hasText: 'Nuala Brennan' }).allInnerTexts();
  const told = ['Revoked an API key', 'Sent a webhook a ping', 'Registered a webhook', 'Created an API key'];
  for (const [index, authorised] of told.entries()) t.match(rows[index], authorised);
}

for (const javaScript of [true, false])
  t.test(
    `the whole story, from the invitation to a revoked key (${javaScript ? 'with' : 'without'} scripts)`,
    async (t) => tellStory(t, await browser, javaScript),
  );
