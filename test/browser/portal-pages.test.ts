import t from 'tap';

import { startPortal } from '../portal/_portal.ts';
import { openBrowser } from './_browser.ts';
import { lookAtPages } from './_portal-browser.ts';

/** Every page of somebody who is signed in, by a name for its picture. A new page is listed here. */
const pages = {
  overview: '/portal',
  keys: '/portal/keys',
  'new-key': '/portal/keys/new',
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

t.test('every page is legible for everybody, with and without scripts', async (t) => {
  const portal = await startPortal(t);
  const browser = await openBrowser(t);
  await lookAtPages(t, { browser, portal }, pages);
  await lookAtPages(t, { browser, portal }, guestPages, { signIn: false });
});
