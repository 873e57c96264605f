import t from 'tap';

import { ACTIVE_KEYS_MAX, createKey, revokeKey } from '../../src/server/access/keys.ts';
import type { Authority } from '../../src/server/store/accounts/authorised-transaction.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { KEY_PREFIX, STORY_NOW } from '../_server.ts';
import { COMPANY, signedInAs, startPortal } from '../server/portal/_portal.ts';
import { openBrowser } from './_browser.ts';
import { lookAt, lookAtPages, openWindow } from './_portal-browser.ts';

const browser = openBrowser(t);

async function makeKey(engine: Engine, name: string, by: Authority = 'operator') {
  const options = { prefix: KEY_PREFIX, company: COMPANY, scopes: ['jobs:read', 'customers:read'] };
  return (await createKey(engine, { ...options, name, by, now: STORY_NOW })).record;
}

t.test('a company’s keys are legible for everybody', async (t) => {
  const portal = await startPortal(t);
  const { engine, administrator } = portal;
  const by = await signedInAs(engine, administrator);
  await makeKey(engine, 'Ledger export', by);
  await makeKey(engine, 'Dashboard in the workshop', by);
  await makeKey(
    engine,
    'A-name-without-a-space-that-goes-on-and-on-until-it-is-a-hundred-characters-long-as-names-may-be-ok',
  );
  const old = await makeKey(engine, 'The old export');
  await revokeKey(engine, COMPANY, old.id, STORY_NOW, by);
  await lookAtPages(t, { browser: await browser, portal }, { 'keys-some': '/portal/keys' });
  for (let made = 3; made < ACTIVE_KEYS_MAX; made += 1) await makeKey(engine, `Branch ${made}`);
  await lookAtPages(
    t,
    { browser: await browser, portal },
    { 'keys-all': '/portal/keys', 'new-key-none-left': '/portal/keys/new' },
  );
});

for (const javaScript of [true, false])
  t.test(`a key is two lines on a phone ${javaScript ? 'with' : 'without'} scripts`, async (t) => {
    const portal = await startPortal(t);
    const { engine } = portal;
    const { id } = await makeKey(engine, 'Dashboard in the workshop');
    await engine.run(`UPDATE api_keys SET ends_at = '2099-12-31T23:59:59.000Z' WHERE id = '${id}'`);
    const ended = await makeKey(engine, 'The old export');
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
  await page.getByLabel('Name').fill('Seen');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('Choose at least one scope').waitFor();
  t.equal(await page.getByLabel('Name').inputValue(), 'Seen', 'what was typed stays');
  await lookAt(t, window, 'new-key-refused');
  await page.getByLabel('jobs:read').check();
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByRole('button', { name: 'Copy API key' }).click();
  await page.getByRole('button', { name: 'Copied API key' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  t.match(copied, new RegExp(`^${KEY_PREFIX}\\.${COMPANY}\\.[0-9a-f]{12}\\.[\\w-]{43}$`));
  t.ok((await page.getByRole('status').innerText()).includes(copied));
  await lookAt(t, window, 'key-created');

  await page.goto('/portal/audit');
  await page.goBack();
  t.notOk((await page.content()).includes(copied), 'the back button doesn’t bring it back');

  await page.getByText('Revoke the key Seen').click();
  await lookAt(t, window, 'key-revoking');
  await page.getByRole('button', { name: 'Revoke it the key Seen' }).click();
  await page.getByText('“Seen” is revoked').waitFor();
  const answer = await portal.http('api/v1/jobs', { headers: { authorization: `Bearer ${copied}` } });
  t.equal(answer.statusCode, 401);
  t.strictSame(complaints, []);
});
