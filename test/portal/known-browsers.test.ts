import t from 'tap';

import { engineNames } from '../_server.ts';
import { guesser } from './_guesser.ts';
import { addAdministrator, EMAIL, PASSWORD, startPortal, type TestPortal, type Visitor } from './_portal.ts';

const COOKIE = 'fieldledger_browser';
const NEW_PASSWORD = 'granite lanterns drift north';
const OTHER = { email: 'conor@brennan.example', password: 'seven quiet harbour bells' };

/** Guesses at an account as somebody does who has many networks of IPv6, until nobody unknown is let in. */
async function lockOut(portal: TestPortal): Promise<void> {
  const guess = await guesser(portal);
  for (let sent = 0; sent < 50; sent += 1) await guess(EMAIL, 'wrong', `2001:db8:${sent.toString(16)}::1`);
}

/** Signs in anew with what a browser knows of before, in a session of its own; gives the status. */
async function signInAgain(portal: TestPortal, browser: Visitor, password = PASSWORD): Promise<number> {
  const again = portal.visitor();
  const known = browser.cookies.get(COOKIE);
  if (known !== undefined) again.cookies.set(COOKIE, known);
  await again.visit('/portal/sign-in');
  return (await again.submit('/portal/sign-in', { email: EMAIL, password })).statusCode;
}

for (const name of engineNames) {
  t.test(
    `${name}: guesses from changing networks don't lock an administrator's own browser out`,
    async (t) => {
      const portal = await startPortal(t, name, { trustedProxies: 1 });
      const owner = await portal.signedIn();
      await lockOut(portal);
      t.equal(await signInAgain(portal, portal.visitor()), 429, 'a browser that nobody knows has to wait');
      t.equal(await signInAgain(portal, owner), 303);
      await owner.visit('/portal/account');
      const fields = { present: PASSWORD, password: NEW_PASSWORD, 'password-again': NEW_PASSWORD };
      t.equal(
        (await owner.submit('/portal/account/password', fields)).statusCode,
        303,
        'nor the account page',
      );
    },
  );
}

t.test('a known browser has five guesses of its own, which are nobody else’s', async (t) => {
  const portal = await startPortal(t);
  const [one, other] = [await portal.signedIn(), await portal.signedIn()];
  const statuses = [];
  for (let sent = 0; sent < 6; sent += 1) statuses.push(await signInAgain(portal, one, 'wrong'));
  t.strictSame(statuses, [422, 422, 422, 422, 422, 429]);
  t.equal(await signInAgain(portal, one), 429, 'the right one comes too late');
  t.equal(await signInAgain(portal, other), 303);
  t.equal(await signInAgain(portal, portal.visitor()), 303, 'nor is the network’s');
});

t.test('a browser is known to its own account, until the password changes', async (t) => {
  const portal = await startPortal(t, 'sqlite', { trustedProxies: 1 });
  await addAdministrator(portal.engine, { ...OTHER, name: 'Conor' });
  const [owner, elsewhere] = [await portal.signedIn(), await portal.signedIn()];
  const colleague = await portal.signedIn(OTHER);
  await lockOut(portal);
  t.equal(await signInAgain(portal, colleague), 429, 'a colleague’s browser is none of hers');
  t.equal(await signInAgain(portal, elsewhere), 303);
  await owner.visit('/portal/account');
  const fields = { present: PASSWORD, password: NEW_PASSWORD, 'password-again': NEW_PASSWORD };
  await owner.submit('/portal/account/password', fields);
  t.equal(await signInAgain(portal, elsewhere, NEW_PASSWORD), 429, 'it has to show the new one first');
  t.equal(await signInAgain(portal, owner, NEW_PASSWORD), 303, 'as the browser has in which it was set');
});

t.test('the cookie of a known browser is kept for long, and from scripts and neighbours', async (t) => {
  for (const [baseUrl, prefix, tail] of [
    ['https://portal.example.com', '__Host-', '; HttpOnly; Secure; SameSite=Lax'],
    ['http://127.0.0.1', '', '; HttpOnly; SameSite=Lax'],
  ] as const) {
    const portal = await startPortal(t, 'sqlite', { baseUrl });
    const visitor = portal.visitor();
    await visitor.visit('/portal/sign-in');
    const { headers } = await visitor.submit('/portal/sign-in', { email: EMAIL, password: PASSWORD });
    const line = headers['set-cookie']?.find((one) => one.startsWith(`${prefix}${COOKIE}=`)) ?? '';
    t.match(line, /=[\w-]{22}\.\d+\.[\w-]{43}; Max-Age=34560000; Path=\/; Expires=/);
    t.ok(line.endsWith(tail), line);
    await visitor.visit('/portal');
    await visitor.submit('/portal/sign-out');
    t.ok(visitor.cookies.has(`${prefix}${COOKIE}`), 'signing out leaves it');
  }
});
