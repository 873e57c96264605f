// Long: a browser goes through all that an account has.
// It takes long because it looks at each page that happens once: in three ways, and in six widths.
import { readFileSync } from 'node:fs';

import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../src/server/backoffice/companies.ts';
import { STORY_NOW } from '../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  makeKey,
  PASSWORD,
  signedInAs,
  startPortal,
} from '../server/portal/_portal.ts';
import { openDoor, tokenFor } from '../server/feed/_door.ts';
import { listen } from '../client/_service.ts';
import { openBrowser } from './_browser.ts';
import {
  axeViolations,
  fillIn,
  heading,
  lookAt,
  lookAtPages,
  openWindow,
  picture,
  type PortalWindow,
  press,
  signInOn,
} from './_portal-browser.ts';
import { totpAt } from '../_totp.ts';

const NEWCOMER = 'niamh@brennan.example';
const passwords = (password: string) => ({ 'New password': password, 'New password again': password });
const browser = openBrowser(t);

/** A portal that the tests share which change nothing of it but their own sessions. */
const shared = startPortal(t);

/** Opens a window on a portal of its own, unless told. */
async function open(
  t: Test,
  options: Parameters<typeof openWindow>[2] = {},
  portal = startPortal(t),
): Promise<PortalWindow & { portal: Awaited<typeof portal> }> {
  const place = { browser: await browser, portal: await portal };
  return { ...(await openWindow(t, place, options)), portal: place.portal };
}

/** The page is as it should be, also while it shows something that happens once. */
async function isInOrder(t: Test, window: PortalWindow, name: string): Promise<void> {
  await lookAt(t, window, name);
  t.strictSame(window.complaints, [], `nothing complains about ${name}`);
}

/** Opens the menu as on a phone, which shows it behind a button. */
async function openMenuOnPhone({ page }: PortalWindow): Promise<void> {
  await page.setViewportSize({ width: 375, height: 844 });
  await press(page, 'Menu');
}

async function inviteNewcomer(page: PortalWindow['page']): Promise<void> {
  await page.getByLabel('Jobs (jobs:read)').check();
  await fillIn(page, { 'Their email address': NEWCOMER }, 'Create invitation');
}

/** Opens a link as its owner does; the server of the tests calls itself by an address without its port. */
async function follow({ page, open }: PortalWindow, link: string, hasScripts: boolean): Promise<void> {
  await open(link.slice(link.indexOf('/portal')));
  if (!hasScripts) await fillIn(page, { 'Code from your link': link }, 'Continue');
}

for (const javaScript of [true, false]) {
  const how = javaScript ? 'with scripts' : 'without scripts';
  t.test(`an administrator invites another, who comes in by the link (${how})`, async (t) => {
    const inviter = await open(t, { javaScript });
    const look = async (window: PortalWindow, name: string) => javaScript && isInOrder(t, window, name);
    await inviter.open('/portal/people');
    await inviteNewcomer(inviter.page);
    const link = (await inviter.page.locator('.secret code').textContent()) ?? '';
    await look(inviter, 'invited');

    const invited = await open(t, { javaScript, signIn: false }, Promise.resolve(inviter.portal));
    const { page } = invited;
    await follow(invited, link, javaScript);
    if (javaScript) t.notOk(page.url().includes('#'), 'the address forgets the code at once');
    await heading(page, 'Join Brennan Heating & Electrical');
    await look(invited, 'invitation-open');
    await fillIn(page, { 'Your name': 'Niamh', ...passwords('too short') }, 'Create my account');
    await page.getByRole('alert').getByText('12 to 200 characters').waitFor();
    await look(invited, 'invitation-refused');
    await fillIn(page, passwords(COLLEAGUE.password), 'Create my account');
    await heading(page, 'Overview');

    await inviter.open('/portal/people');
    await inviter.page.getByText('Remove access of Niamh').first().click();
    await look(inviter, 'remove-somebody');
    await press(inviter.page, 'Remove access of Niamh');
    await inviter.page.getByText('Niamh no longer has access.').waitFor();
    await invited.open('/portal/people');
    t.match(page.url(), /\/portal\/sign-in\?next=/, 'and is out at once');
    t.strictSame([...inviter.complaints, ...invited.complaints], []);
  });

  t.test(`a portal link signs in ${javaScript ? 'at once' : 'by a paste without scripts'}`, async (t) => {
    const window = await open(t, { javaScript, signIn: false });
    const { token } = await tokenFor(window.portal.engine, { portalLinks: ['jobs:read'] });
    await using door = await openDoor(window.portal.engine, token);
    const asked = { email: NEWCOMER, name: 'Niamh', company: COMPANY, scopes: ['jobs:read'] };
    const { link } = JSON.parse((await door.askForLink(asked)).body) as { link: string };
    await follow(window, link, javaScript);
    await heading(window.page, 'Overview');
    await window.open('/portal/account');
    if (javaScript) await isInOrder(t, window, 'account-linked');
    await window.page.goBack();
    t.notOk(window.page.url().includes('#'), 'the history has no code');
  });
}

t.test('a wrong password is told beside the form, and what else was filled in stays', async (t) => {
  const window = await open(t, { signIn: false }, shared);
  await window.open('/portal/sign-in');
  await signInOn(window.page, 'not my password');
  await window.page.getByText('The email address or password is wrong.').waitFor();
  t.equal(await window.page.getByLabel('Email address').inputValue(), EMAIL);
  t.equal(await window.page.getByLabel('Password').inputValue(), '');
  await isInOrder(t, window, 'sign-in-refused');
});

t.test('after signing out the back button shows nothing', async (t) => {
  const { page, open: show } = await open(t);
  await show('/portal/people');
  await inviteNewcomer(page);
  await page.locator('.secret code').waitFor();
  await show('/portal/account');
  await page.goBack();
  t.equal(await page.locator('.secret').count(), 0, 'what was shown once is not shown again');
  await press(page, 'Sign out');
  await page.getByText('You have signed out.').waitFor();
  for (let back = 0; back < 3; back += 1) {
    await page.goBack();
    t.match(page.url(), /\/portal\/sign-in/);
    t.equal(await page.getByText(NEWCOMER).count(), 0);
  }
});

/** Serves a page of another site. @returns its port. */
const startSite = async (t: Test, page: string): Promise<number> =>
  (await listen(t, (_req, res) => res.setHeader('Content-Type', 'text/html').end(page))).port;

t.test(
  'another site can neither frame a page nor send a form, though the browser is signed in',
  async (t) => {
    const { page, open: show, portal } = await open(t, {}, shared);
    const frame = await startSite(t, `<iframe src="${portal.url}/portal/people"></iframe>`);
    const refused = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()));
    await page.goto(`http://127.0.0.1:${frame}/`);
    await refused;
    t.equal(await page.frameLocator('iframe').getByRole('heading', { name: 'People' }).count(), 0);

    const action = `${portal.url}/portal/account/sign-out-everywhere`;
    const form = await startSite(t, `<form method="post" action="${action}"><button>Win</button></form>`);
    // Another name of this machine is another site.
    await page.goto(`http://localhost:${form}/`);
    await press(page, 'Win');
    await heading(page, 'This form has expired');
    await show('/portal/people');
    t.match(await page.getByRole('heading', { level: 1 }).innerText(), 'People');
  },
);

t.test('the keyboard reaches everything, the content first if one likes', async (t) => {
  const { page, open: show } = await open(t, {}, shared);
  await show('/portal/people');
  await page.keyboard.press('Tab');
  t.ok(await page.getByRole('link', { name: 'Skip to the content' }).isVisible());
  await picture(page, 'skip-link');
  for (const key of ['Enter', 'Tab']) await page.keyboard.press(key);
  const isInContent = await page.evaluate('document.activeElement.closest("main") !== null');
  t.equal(isInContent, true, 'the next stop is in the content');
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
  const { page, open: show, complaints } = await open(t, {}, shared);
  await show('/portal/people');
  await page.evaluate(`document.querySelector('label[for="email"]').remove()`);
  t.match((await axeViolations(page)).join('\n'), /^label: /m);
  await page.evaluate(`document.documentElement.style.setProperty('--text', '#999')`);
  t.match((await axeViolations(page)).join(), /color-contrast/);
  await page.evaluate(`fetch('https://elsewhere.example/').catch(() => undefined)`);
  t.match(complaints.join(), /elsewhere\.example/, 'and a request to elsewhere is noted');
});

t.test('somebody with accounts in two companies chooses one, and switches', async (t) => {
  const window = await open(t, { signIn: false });
  const { page, portal } = window;
  const name = 'Ó Ceallacháin Plumbing & Sons of Ballinasloe';
  await createCompany(portal.engine, 'other', { name }, STORY_NOW);
  await addAdministrator(portal.engine, { company: 'other', email: EMAIL, password: PASSWORD });
  const by = await signedInAs(portal.engine, await addAdministrator(portal.engine, COLLEAGUE));
  for (const key of ['Ledger export', 'Dashboard in the workshop']) await makeKey(portal.engine, key, { by });
  await window.open('/portal/sign-in');
  await signInOn(page);
  await heading(page, 'Choose a company');
  await isInOrder(t, window, 'companies');
  await page.getByRole('button', { name: /Brennan/ }).click();
  await heading(page, 'Overview');
  await isInOrder(t, window, 'companies-header');
  await window.open('/portal/people');
  await page.getByText('Remove access of Conor').first().click();
  await isInOrder(t, window, 'remove-with-keys');
  await window.open('/portal/account');
  await page.getByText('Sign out everywhere').first().click();
  await isInOrder(t, window, 'sign-out-everywhere');
  await openMenuOnPhone(window);
  await page.getByRole('link', { name: 'Change company' }).click();
  await page.getByRole('button', { name: /Ballinasloe/ }).click();
  await page.getByText('Ó Ceallacháin Plumbing').first().waitFor();
  await isInOrder(t, window, 'companies-switched');
});

t.test('a second factor is set up, a change is confirmed, and a code signs in', async (t) => {
  const window = await open(t);
  const { page } = window;
  await window.open('/portal/account/second-factor');
  const secret = (await page.locator('#app-secret').textContent()) ?? '';
  const code = (seconds: number) => totpAt(secret, STORY_NOW.getTime() / 1000 + seconds);
  t.ok(await page.getByRole('img', { name: /QR code/ }).isVisible());
  await fillIn(page, { 'Code from the app': '000000' }, 'Set up');
  await page.getByRole('alert').getByText('This code is wrong').waitFor();
  await isInOrder(t, window, 'second-factor-refused');
  await fillIn(page, { 'Code from the app': code(0) }, 'Set up');
  await page.getByText('Your second factor is set up.').waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download as a text file' }).click(),
  ]);
  t.equal(file.suggestedFilename(), 'recovery-codes.txt');
  t.match(
    readFileSync(await file.path(), 'utf8'),
    /^Recovery codes\r\n\r\n(?:(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}\r\n){10}$/,
  );
  await page.getByText('Remove').first().click();
  await isInOrder(t, window, 'second-factor-codes');
  window.portal.setNow(new Date(STORY_NOW.getTime() + 660_000));
  await window.open('/portal/people');
  await inviteNewcomer(page);
  await heading(page, 'Confirm that it’s you');
  await isInOrder(t, window, 'proof');
  await page.getByLabel('Your password, or a code of').fill(code(660));
  await press(page, 'Confirm and make the change');
  await page.getByText(`${NEWCOMER} is invited.`).waitFor();
  await openMenuOnPhone(window);
  await press(page, 'Sign out');
  await page.getByText('You have signed out.').waitFor();
  await signInOn(page);
  await heading(page, 'Enter your code');
  await isInOrder(t, window, 'second-factor-code');
  await fillIn(page, { Code: code(690) }, 'Sign in');
  await heading(page, 'Overview');
  t.strictSame(window.complaints, []);
});
