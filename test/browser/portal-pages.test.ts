import t from 'tap';

import { COMPANY, startPortal, type TestPortal } from '../portal/_portal.ts';
import { addHistory } from '../portal/_history.ts';
import { addWebhook } from '../portal/_webhooks.ts';
import { STORY_NOW } from '../_server.ts';
import { openBrowser } from './_browser.ts';
import { lookAtPages } from './_portal-browser.ts';

/** Every page of somebody who is signed in, by a name for its picture. A new page is listed here. */
const pages = {
  overview: '/portal',
  keys: '/portal/keys',
  'new-key': '/portal/keys/new',
  'webhooks-new': '/portal/webhooks/new',
  usage: '/portal/usage',
  documents: '/portal/documents',
  people: '/portal/people',
  account: '/portal/account',
  audit: '/portal/audit',
  'nothing-here': '/portal/nothing',
};

/** Every page of a guest. */
const guestPages = {
  'sign-in': '/portal/sign-in',
  invitation: '/portal/invitation',
  'guest-nothing-here': '/portal/nothing',
};

/** The pages of webhooks that have a history, and of one that has none. */
async function webhookPages({ engine }: TestPortal): Promise<Record<string, string>> {
  const { id } = await addWebhook(engine);
  const failing = await addWebhook(engine, { url: 'https://erp.example.net/in/field?tenant=7' });
  const quiet = await addWebhook(engine, { url: 'https://quiet.example.org/', events: ['form.submitted'] });
  const options = { company: COMPANY, until: STORY_NOW, rarelyEvery: 20 };
  await addHistory(engine, { ...options, webhooks: [id], count: 400, failedEvery: 60, retriedEvery: 13 });
  const history = { count: 90, days: 3, failedEvery: 2 };
  await addHistory(engine, {
    ...options,
    webhooks: [failing.id],
    until: new Date(STORY_NOW.getTime() - 1),
    ...history,
  });
  const [failed] = await engine.run(
    `SELECT id FROM deliveries WHERE webhook = '${failing.id}' AND state = 'failed' ORDER BY id DESC`,
  );
  const of = `/portal/webhooks/${id}`;
  return {
    webhooks: '/portal/webhooks',
    webhook: of,
    'webhook-failing': `/portal/webhooks/${failing.id}`,
    deliveries: `${of}/deliveries`,
    'deliveries-none': `/portal/webhooks/${quiet.id}/deliveries`,
    'deliveries-refused': `${of}/deliveries?from=yesterday`,
    delivery: `/portal/webhooks/${failing.id}/deliveries/${String(failed?.id)}`,
  };
}

t.test('every page is legible for everybody, with and without scripts', async (t) => {
  const portal = await startPortal(t);
  const browser = await openBrowser(t);
  await lookAtPages(t, { browser, portal }, { ...pages, ...(await webhookPages(portal)) });
  await lookAtPages(t, { browser, portal }, guestPages, { signIn: false });
});
