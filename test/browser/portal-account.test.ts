import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { generateSync } from 'otplib';
import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../src/server/access/companies.ts';
import { createKey } from '../../src/server/access/keys.ts';
import { STORY_NOW } from '../_server.ts';
import {
  addAdministrator,
  COMPANY,
  EMAIL,
  PASSWORD,
  signedInAs,
  startPortal,
} from '../server/portal/_portal.ts';
import { openDoor, tokenFor } from '../server/feed/_door.ts';
import { openBrowser } from './_browser.ts';
import {
  axeViolations,
  lookAt,
  lookAtPages,
  openWindow,
  picture,
  type PortalWindow,
} from './_portal-browser.ts';

const NEWCOMER = { email: 'niamh@brennan.example', name: 'Niamh', password: 'seven quiet harbour bells' };
const browser = openBrowser(t);

/** The page is as it should be, also while it shows something that happens once. */
async function isInOrder(t: Test, window: PortalWindow, name: string): Promise<void> {
  await lookAt(t, window, name);
  t.strictSame(window.complaints, [], `nothing complains about ${name}`);
}

/** Opens the menu as on a phone, which shows it behind a button. */
async function openMenuOnPhone({ page }: PortalWindow): Promise<void> {
  await page.setViewportSize({ width: 375, height: 844 });
  await page.getByRole('button', { name: 'Menu' }).click();
}

for (const javaScript of [true, false]) {
  const how = javaScript ? 'with scripts' : 'without scripts';
  t.test(`an administrator invites another, who comes in by the link (${how})`, async (t) => {
    const portal = await startPortal(t, 'sqlite', {});
    const inviter = await openWindow(t, { browser: await browser, portal }, { javaScript });
    await inviter.open('/portal/people');
    await inviter.page.getByLabel('Their e-mail address').fill(NEWCOMER.email);
    await inviter.page.getByLabel('invoices:read').uncheck();
    await inviter.page.getByRole('button', { name: 'Make an invitation' }).click();
    const link = (await inviter.page.locator('.secret code').textContent()) ?? '';
    if (javaScript) await isInOrder(t, inviter, 'invited');

    const invited = await openWindow(t, { browser: await browser, portal }, { javaScript, signIn: false });
    const { page } = invited;
    // The server of the tests calls itself by an address without its port.
    await invited.open(link.slice(link.indexOf('/portal')));
    if (javaScript) t.notOk(page.url().includes('#'), 'the address forgets the code at once');
    else {
      await page.getByLabel('Code of your link').fill(link);
      await page.getByRole('button', { name: 'Continue' }).click();
    }
    await page.getByRole('heading', { name: 'Administer Brennan Heating & Electrical' }).waitFor();
    if (javaScript) await isInOrder(t, invited, 'invitation-open');
    await page.getByLabel('Your name').fill(NEWCOMER.name);
    await page.getByLabel('New password', { exact: true }).fill('too short');
    await page.getByLabel('New password again').fill('too short');
    await page.getByRole('button', { name: 'Create my account' }).click();
    await page.getByRole('alert').getByText('12 to 200 characters').waitFor();
    if (javaScript) await isInOrder(t, invited, 'invitation-refused');
    await page.getByLabel('New password', { exact: true }).fill(NEWCOMER.password);
    await page.getByLabel('New password again').fill(NEWCOMER.password);
    await page.getByRole('button', { name: 'Create my account' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await inviter.open('/portal/people');
    await inviter.page.getByText('Remove Niamh').first().click();
    if (javaScript) await isInOrder(t, inviter, 'remove-somebody');
    await inviter.page.getByRole('button', { name: 'Remove access Niamh' }).click();
    await inviter.page.getByText('Niamh no longer has access.').waitFor();
    await invited.open('/portal/people');
    t.match(page.url(), /\/portal\/sign-in\?next=/, 'and is out at once');
    t.strictSame([...inviter.complaints, ...invited.complaints], []);
  });
}

for (const javaScript of [true, false])
  t.test(`a portal link signs in ${javaScript ? 'at once' : 'by a paste without scripts'}`, async (t) => {
    const portal = await startPortal(t);
    const { token } = await tokenFor(portal.engine, { portalLinks: ['jobs:read'] });
    await using door = await openDoor(portal.engine, token);
    const asked = { ...NEWCOMER, company: COMPANY, password: undefined, scopes: ['jobs:read'] };
    const { link } = JSON.parse((await door.askForLink(asked)).body) as { link: string };
    const window = await openWindow(t, { browser: await browser, portal }, { javaScript, signIn: false });
    await window.open(link.slice(link.indexOf('/portal')));
    if (!javaScript) {
      await window.page.getByLabel('Code of your link').fill(link);
      await window.page.getByRole('button', { name: 'Continue' }).click();
    }
    await window.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await window.open('/portal/account');
    if (javaScript) await isInOrder(t, window, 'account-linked');
    await window.page.goBack();
    t.notOk(window.page.url().includes('#'), 'the history has no code');
  });

t.test('a wrong password is told beside the form, and what else was filled in stays', async (t) => {
  const portal = await startPortal(t);
  const window = await openWindow(t, { browser: await browser, portal }, { signIn: false });
  await window.open('/portal/sign-in');
  await window.page.getByLabel('E-mail address').fill(EMAIL);
  await window.page.getByLabel('Password').fill('not my password');
  await window.page.getByRole('button', { name: 'Sign in' }).click();
  await window.page.getByText('The e-mail address or the password is wrong.').waitFor();
  t.equal(await window.page.getByLabel('E-mail address').inputValue(), EMAIL);
  t.equal(await window.page.getByLabel('Password').inputValue(), '');
  await isInOrder(t, window, 'sign-in-refused');
});

t.test('after signing out the back button shows nothing', async (t) => {
  const portal = await startPortal(t);
  const { page, open } = await openWindow(t, { browser: await browser, portal });
  await open('/portal/people');
  await page.getByLabel('Their e-mail address').fill(NEWCOMER.email);
  await page.getByRole('button', { name: 'Make an invitation' }).click();
  await page.locator('.secret code').waitFor();
  await open('/portal/account');
  await page.goBack();
  t.equal(await page.locator('.secret').count(), 0, 'what was shown once is not shown again');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You have signed out.').waitFor();
  for (let back = 0; back < 3; back += 1) {
    await page.goBack();
    t.match(page.url(), /\/portal\/sign-in/);
    t.equal(await page.getByText(NEWCOMER.email).count(), 0);
  }
});

/** Serves a page of another site. @returns its port. */
async function startSite(t: Test, page: string): Promise<number> {
  const site = createServer((_req, res) => res.setHeader('Content-Type', 'text/html').end(page));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    site.close();
    site.closeAllConnections();
  });
  return (site.address() as AddressInfo).port;
}

t.test('another site can not put a page into a frame', async (t) => {
  const portal = await startPortal(t);
  const port = await startSite(t, `<iframe src="${portal.url}/portal/people"></iframe>`);
  const { page } = await openWindow(t, { browser: await browser, portal });
  const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
  await page.goto(`http://127.0.0.1:${port}/`);
  await refused;
  t.equal(await page.frameLocator('iframe').getByRole('heading', { name: 'People' }).count(), 0);
});

t.test('a form of another site changes nothing, though the browser is signed in', async (t) => {
  const portal = await startPortal(t);
  const action = `${portal.url}/portal/account/sign-out-everywhere`;
  const port = await startSite(t, `<form method="post" action="${action}"><button>Win</button></form>`);
  const { page, open } = await openWindow(t, { browser: await browser, portal });
  // Another name of this machine is another site.
  await page.goto(`http://localhost:${port}/`);
  await page.getByRole('button', { name: 'Win' }).click();
  await page.getByRole('heading', { name: 'This form can’t be used any more' }).waitFor();
  await open('/portal/people');
  t.match(await page.getByRole('heading', { level: 1 }).innerText(), 'People');
});

t.test('the keyboard reaches everything, the content first if one likes', async (t) => {
  const portal = await startPortal(t);
  const { page, open } = await openWindow(t, { browser: await browser, portal });
  await open('/portal/people');
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to the content' });
  t.ok(await skip.isVisible());
  await picture(page, 'skip-link');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  t.equal(
    await page.evaluate('document.activeElement.closest("main") !== null'),
    true,
    'the next stop is in the content',
  );
});

t.test('the longest names and addresses fit, on a phone too', async (t) => {
  const portal = await startPortal(t);
  const long = (length: number) => 'a'.repeat(length);
  await addAdministrator(portal.engine, { name: long(100), email: `${long(64)}@${long(180)}.example` });
  await portal.engine.run(`UPDATE companies SET name = '${long(200)}'`);
  const pages = {
    'long-people': '/portal/people',
    'long-audit': '/portal/audit',
    'long-overview': '/portal',
  };
  await lookAtPages(t, { browser: await browser, portal }, pages);
});

t.test('axe-core finds the violations that are planted', async (t) => {
  const portal = await startPortal(t);
  const { page, open, complaints } = await openWindow(t, { browser: await browser, portal });
  await open('/portal/people');
  await page.evaluate(`document.querySelector('label[for="email"]').remove()`);
  t.match((await axeViolations(page)).join('\n'), /^label: /m);
  await page.evaluate(`document.documentElement.style.setProperty('--text', '#999')`);
  t.match((await axeViolations(page)).join(), /color-contrast/);
  await page.evaluate(`fetch('https://elsewhere.example/').catch(() => undefined)`);
  t.match(complaints.join(), /elsewhere\.example/, 'and a request to elsewhere is noted');
});

t.test('somebody with accounts in two companies chooses one, and switches', async (t) => {
  const portal = await startPortal(t, 'sqlite', {});
  await createCompany(
    portal.engine,
    'other',
    { name: 'Ó Ceallacháin Plumbing & Sons of Ballinasloe' },
    STORY_NOW,
  );
  await addAdministrator(portal.engine, { company: 'other', email: EMAIL, password: PASSWORD });
  const keyed = await addAdministrator(portal.engine, { ...NEWCOMER });
  const by = await signedInAs(portal.engine, keyed);
  for (const name of ['Ledger export', 'Dashboard in the workshop'])
    await createKey(portal.engine, {
      prefix: 'fl',
      company: COMPANY,
      name,
      scopes: ['jobs:read'],
      by,
      now: STORY_NOW,
    });
  const window = await openWindow(t, { browser: await browser, portal }, { signIn: false });
  const { page, open } = window;
  await open('/portal/sign-in');
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Choose a company' }).waitFor();
  await isInOrder(t, window, 'companies');
  await page.getByRole('button', { name: /Brennan/ }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await isInOrder(t, window, 'companies-header');
  await open('/portal/people');
  await page.getByText('Remove Niamh').first().click();
  await isInOrder(t, window, 'remove-with-keys');
  await open('/portal/account');
  await page.getByText('Sign out everywhere').first().click();
  await isInOrder(t, window, 'sign-out-everywhere');
  await openMenuOnPhone(window);
  await page.getByRole('link', { name: 'Change company' }).click();
  await page.getByRole('button', { name: /Ballinasloe/ }).click();
  await page.getByText('Ó Ceallacháin Plumbing').first().waitFor();
  await isInOrder(t, window, 'companies-switched');
});

t.test('a second factor is set up, a change is confirmed, and a code signs in', async (t) => {
  const portal = await startPortal(t);
  const window = await openWindow(t, { browser: await browser, portal });
  const { page, open } = window;
  await open('/portal/account/second-factor');
  const secret = (await page.locator('p code').innerText()).replaceAll(' ', '');
  const code = (seconds: number) => generateSync({ secret, epoch: STORY_NOW.getTime() / 1000 + seconds });
  t.ok(await page.getByRole('img', { name: /QR code/ }).isVisible());
  await page.getByLabel('Code that the app shows').fill('000000');
  await page.getByRole('button', { name: 'Set it up' }).click();
  await page.getByRole('alert').getByText('This code is wrong').waitFor();
  await isInOrder(t, window, 'second-factor-refused');
  await page.getByLabel('Code that the app shows').fill(code(0));
  await page.getByRole('button', { name: 'Set it up' }).click();
  await page.getByText('Your second factor is set up.').waitFor();
  await page.getByText('Remove it').first().click();
  await isInOrder(t, window, 'second-factor-codes');
  portal.setNow(new Date(STORY_NOW.getTime() + 660_000));
  await open('/portal/people');
  await page.getByLabel('Their e-mail address').fill(NEWCOMER.email);
  await page.getByRole('button', { name: 'Make an invitation' }).click();
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await isInOrder(t, window, 'proof');
  await page.getByLabel('Your password, or a code of').fill(code(660));
  await page.getByRole('button', { name: 'Confirm, and make the change' }).click();
  await page.getByText(`${NEWCOMER.email} is invited.`).waitFor();
  await openMenuOnPhone(window);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You have signed out.').waitFor();
  await page.getByLabel('E-mail address').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  await isInOrder(t, window, 'second-factor-code');
  await page.getByLabel('Code').fill(code(690));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  t.strictSame(window.complaints, []);
});
