// Long: a browser lays out every page in each width, and axe looks at it.
// It takes a minute because it looks at every page: in three ways, and in six widths.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import t from 'tap';

import { scopes } from '../../src/contract/scopes.ts';
import { openKeyUsage } from '../../src/server/features/usage/key-usage.ts';
import {
  addAdministrator,
  COMPANY,
  makeKey,
  startPortal,
  type TestPortal,
} from '../server/portal/_portal.ts';
import { addHistory } from '../server/features/webhooks/_history.ts';
import { issueInvoice } from '../server/features/documents/_rich-invoice.ts';
import { addWebhook } from '../server/features/webhooks/_registered.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../_server.ts';
import { openBrowser } from './_browser.ts';
import { fillIn, lookAtPages, openWindow } from './_portal-browser.ts';

const browser = openBrowser(t);

/** Every page of somebody who is signed in, by a name for its picture. A new page is listed here. */
const pages = {
  overview: '/portal',
  keys: '/portal/keys',
  'new-key': '/portal/keys/new',
  'webhooks-new': '/portal/webhooks/new',
  events: '/portal/events',
  usage: '/portal/usage',
  requests: '/portal/requests',
  documents: '/portal/documents',
  'documents-found': '/portal/documents?search=i',
  'documents-combined':
    '/portal/documents?search=harbour&kind=invoice&state=open&customer=cus_0003&from=2026-01-01',
  'documents-drafts': '/portal/documents?state=draft',
  'documents-refused': '/portal/documents?from=2026-02-30&kind=bill',
  'documents-aged': '/portal/documents?state=not_due&currency=EUR',
  receivables: '/portal/receivables',
  'receivables-refused': '/portal/receivables?sort=weight&since=2026-02-30',
  document: '/portal/documents/01a15a0c-54c0-737e-abf7-cfe66f9292f6',
  'document-draft': '/portal/documents/01a1ef7b-a420-7b42-8594-7b990f1a8c5f',
  'hand-overs': '/portal/hand-overs',
  people: '/portal/people',
  account: '/portal/account',
  'second-factor': '/portal/account/second-factor',
  notices: '/portal/notices',
  audit: '/portal/audit',
  'audit-refused': '/portal/audit?from=2026-02-30&to=2026-11-20',
  'nothing-here': '/portal/nothing',
};

/** Every page of a guest. */
const guestPages = {
  'sign-in': '/portal/sign-in',
  invitation: '/portal/invitation',
  forgotten: '/portal/forgotten',
  'notices-stop': '/portal/notices/stop/brennan.a-notice.a-code',
  'companies-none': '/portal/companies',
  'guest-nothing-here': '/portal/nothing',
};

const mailing = { portal: { ...PORTAL_SETTINGS, isMailing: true } };

/** The pages of webhooks that have a history, and of one that has none. */
async function webhookPages({ engine }: TestPortal): Promise<Record<string, string>> {
  const { id } = await addWebhook(engine);
  const failing = await addWebhook(engine, { url: 'https://erp.example.net/in/field?tenant=7' });
  const quiet = await addWebhook(engine, { url: 'https://quiet.example.org/', events: ['form.submitted'] });
  const options = { company: COMPANY, until: STORY_NOW, rarelyEvery: 20 };
  await addHistory(engine, { ...options, webhooks: [id], count: 400, failedEvery: 60, retriedEvery: 13 });
  const history = { until: new Date(STORY_NOW.getTime() - 1), count: 90, days: 3, failedEvery: 2 };
  await addHistory(engine, { ...options, webhooks: [failing.id], ...history });
  const [failed] = await engine.run(
    `SELECT id FROM deliveries WHERE webhook = '${failing.id}' AND state = 'failed' ORDER BY id DESC`,
  );
  const attempts = [60, 1].map((minutes) => ({
    ...{ at: new Date(STORY_NOW.getTime() - minutes * 60_000).toISOString(), ms: 212, problem: '422' },
    answer: 'BR-CO-10: the sum of the lines is not the total of the invoice.',
    nextAt: minutes > 1 ? STORY_NOW.toISOString() : undefined,
  }));
  const at = STORY_NOW.toISOString();
  await engine.run(`INSERT INTO hand_overs (company, id, created_at, due_at, state, problem, attempts) VALUES
    ('${COMPANY}', '01a15a0c-54c0-737e-abf7-cfe66f9292f6', '${at}', '${at}', 'failed', '422', '${JSON.stringify(attempts)}')`);
  const of = `/portal/webhooks/${id}`;
  return {
    webhooks: '/portal/webhooks',
    webhook: of,
    'webhook-change': `${of}/change`,
    'deliveries-all': '/portal/deliveries?event=job.updated&response=2xx',
    'webhook-failing': `/portal/webhooks/${failing.id}`,
    deliveries: `${of}/deliveries`,
    'deliveries-failed': `/portal/webhooks/${failing.id}/deliveries?state=unsent`,
    recover: `/portal/webhooks/${failing.id}/recover?from=2026-11-19T00:00`,
    'recover-refused': `/portal/webhooks/${failing.id}/recover`,
    'overview-needs': '/portal',
    'hand-overs-failed': '/portal/hand-overs',
    'document-failed': '/portal/documents/01a15a0c-54c0-737e-abf7-cfe66f9292f6',
    'deliveries-none': `/portal/webhooks/${quiet.id}/deliveries`,
    'deliveries-refused': `${of}/deliveries?from=yesterday&state=none&response=2xx`,
    delivery: `/portal/webhooks/${failing.id}/deliveries/${String(failed?.id)}`,
  };
}

t.test('every page is legible for everybody, with and without scripts', async (t) => {
  const place = {
    browser: await browser,
    portal: await startPortal(t, 'sqlite', { hasRecords: true, ...mailing }),
  };
  const { id } = await issueInvoice(place.portal.engine);
  const rich = { 'document-rich': `/portal/documents/${id}` };
  await lookAtPages(t, place, { ...pages, ...rich, ...(await webhookPages(place.portal)) });
  await lookAtPages(t, place, guestPages, { signIn: false });
});

/** Pages that have nothing above have much here, and the other way round. */
const opposites = {
  'overview-new': '/portal',
  'usage-some': '/portal/usage',
  'requests-some': '/portal/requests',
  'keys-some': '/portal/keys',
  'people-some': '/portal/people',
  'notices-some': '/portal/notices',
  'documents-none': '/portal/documents',
  'receivables-none': '/portal/receivables',
};

t.test('a day of use, and a company without documents, are legible for everybody', async (t) => {
  const portal = await startPortal(t);
  const longName = 'Caoimhe Ní Dhomhnaill-Featherstonehaugh of the second workshop in Ballyfermot';
  for (const name of ['Niamh', longName]) {
    const email = `${name.slice(0, 7)}.${'x'.repeat(50)}@brennan.example`;
    await addAdministrator(portal.engine, { email, name });
  }
  await portal.engine.run(
    `UPDATE administrators SET second_factor = 'x', recovery_codes = '[]' WHERE name = 'Niamh'`,
  );
  let at = STORY_NOW;
  const onError = (error: unknown) => t.error(error);
  const usage = openKeyUsage(portal.engine, { now: () => at, onError });
  const names = ['Ledger export', `Dashboard-in-the-workshop-${'x'.repeat(70)}`, 'Never used'];
  for (const [index, name] of names.entries()) {
    const record = await makeKey(portal.engine, name, { scopes: scopes.slice(index) });
    for (let hour = 0; hour < 24 && index < 2; hour += 1) {
      at = new Date(STORY_NOW.getTime() - hour * 3_600_000);
      const count = Math.round(120 * (1 + Math.sin((hour + index * 5) / 3)));
      for (let asked = 0; asked < count; asked += 1)
        usage.count(COMPANY, record.id, index === 0 && hour < 4 && asked > 150);
      const answer = hour % 5 === 0 ? { status: 404, code: 'not_found' } : { status: 200, code: null };
      const asked = { method: 'GET', operation: '/api/v1/form-submissions/{formSubmissionId}', ms: hour * 7 };
      usage.note({ company: COMPANY, keyId: record.id, id: randomUUID(), ...asked, ...answer });
    }
  }
  await usage[Symbol.asyncDispose]();
  await lookAtPages(t, { browser: await browser, portal }, opposites);
});

for (const javaScript of [true, false]) {
  t.test(`an invoice is found and downloaded ${javaScript ? 'with' : 'without'} scripts`, async (t) => {
    const portal = await startPortal(t, 'sqlite', { hasRecords: true });
    const place = { browser: await browser, portal };
    const { page, open, complaints } = await openWindow(t, place, { javaScript });
    await open('/portal/documents');
    await fillIn(page, { 'Number, customer or amount': 'inv-2026-0003' }, 'Show');
    await page.getByRole('link', { name: 'INV-2026-0003' }).click();
    const begun = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the PDF' }).click();
    const download = await begun;
    t.equal(download.suggestedFilename(), 'INV-2026-0003.pdf');
    t.match(readFileSync(await download.path(), 'latin1'), /^%PDF-/);
    t.strictSame(complaints, []);
  });
}

t.test('actions stand apart, and forced colours show one section as the current one', async (t) => {
  const portal = await startPortal(t, 'sqlite', { hasRecords: true });
  portal.setNow(new Date('2026-11-23T12:00:00Z'));
  await makeKey(portal.engine, 'Ledger export');
  const { page, open } = await openWindow(t, { browser: await browser, portal });
  await open('/portal/keys');
  for (const width of [320, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate("document.querySelectorAll('.brief').forEach((brief) => { brief.open = true; })");
    const boxes = await Promise.all(
      ['Change', 'Revoke'].map((name) => page.locator('summary', { hasText: name }).boundingBox()),
    );
    const [change, revoke] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
    const gap = Math.max(
      (revoke?.x ?? 0) - (change?.x ?? 0) - (change?.width ?? 0),
      (revoke?.y ?? 0) - (change?.y ?? 0) - (change?.height ?? 0),
    );
    t.ok(gap >= 6, `${gap} pixels at ${width}`);
  }
  await page.locator('summary', { hasText: 'Revoke' }).click();
  const key = await page.locator('td code').first().boundingBox();
  t.ok((key?.height ?? 99) < 30, 'an open panel leaves the id of a key on one line');
  await page.emulateMedia({ forcedColors: 'active' });
  const underlined = await page.evaluate(`[...document.querySelectorAll('nav li a')]
    .filter((link) => parseFloat(getComputedStyle(link).borderBottomWidth) > 0).map((link) => link.textContent)`);
  t.strictSame(underlined, ['API keys']);
  await open('/portal/documents?state=overdue');
  await page.getByText('Overdue since 21 Nov 2026, part paid').waitFor();
  await page.setViewportSize({ width: 320, height: 900 });
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
});
