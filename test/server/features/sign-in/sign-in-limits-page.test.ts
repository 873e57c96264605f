import { hashPassword } from '../../../../src/server/features/sign-in/passwords.ts';
import { updateAdministratorRow } from '../../../../src/server/store/accounts/administrator-rows.ts';
import { processorMs } from '../../../_processor-time.ts';
import {
  addAdministrator,
  COLLEAGUE,
  EMAIL,
  hiddenFields,
  NEW_PASSWORD,
  onEachEngine,
  onSqlite,
  PASSWORD,
  type TestPortal,
  textOf,
  typedTwice,
  type Visitor,
} from '../../portal/_portal.ts';

/** Sends guesses as a program does: with one browser, as if from addresses of its choice. */
async function guesser(portal: TestPortal) {
  const visitor = portal.visitor();
  await visitor.visit('/portal/sign-in');
  const hidden = hiddenFields(visitor.shown, '/portal/sign-in');
  return async (email: string, password: string, address = '198.51.100.7') => {
    const fields = { ...hidden, email, password };
    const { statusCode, body } = await visitor
      .copy()
      .send('/portal/sign-in', fields, { 'x-forwarded-for': address });
    return { statusCode, text: textOf(body) };
  };
}

const WRONG = 'The email address or password is wrong.';
const TOO_MANY = /Too many attempts to sign in. Try again in \d+ minutes\./;

onSqlite('an unknown address is answered like a wrong password', { trustedProxies: 1 }, async (t, portal) => {
  const password = await hashPassword(PASSWORD);
  await portal.engine.transaction((transaction) =>
    updateAdministratorRow(transaction, portal.administrator, { password }),
  );
  const guess = await guesser(portal);
  const timed = async (email: string, address: string) => {
    const answer: unknown[] = [];
    const ms = await processorMs(async () => {
      const { statusCode, text } = await guess(email, 'wrong password', address);
      answer.push(statusCode, text.replace(email, 'EMAIL'));
    });
    return { ms, answer };
  };
  const known = [];
  const unknown = [];
  for (let round = 0; round < 5; round += 1) {
    known.push(await timed(EMAIL, `198.51.100.${round}`));
    unknown.push(await timed('nobody@brennan.example', `198.51.100.${round}`));
  }
  for (const { answer } of [...known, ...unknown]) t.strictSame(answer, known[0]?.answer);
  t.match(known[0]?.answer[1], new RegExp(WRONG));
  const median = (of: { ms: number }[]) => of.map(({ ms }) => ms).sort((a, b) => a - b)[2] ?? 0;
  await addAdministrator(portal.engine, COLLEAGUE);
  await portal.engine.run(`UPDATE administrators SET disabled_at = '2026-11-20' WHERE name = 'Conor'`);
  const { statusCode, text } = await guess(COLLEAGUE.email, COLLEAGUE.password, '198.51.100.6');
  t.strictSame([statusCode, text], known[0]?.answer.with(1, text), 'so is somebody who was removed');
  t.match(text, new RegExp(WRONG));
  // Hashing takes a quarter of a second; without it an answer takes some milliseconds.
  t.ok(median(unknown) > median(known) / 2, 'an unknown address is not answered sooner');
  t.ok(median(known) > median(unknown) / 2, 'nor later');
});

const GUESSES = 100;

onSqlite(`of ${GUESSES} guesses five are looked at`, { trustedProxies: 1 }, async (t, portal) => {
  const guess = await guesser(portal);
  for (let sent = 0; sent < 5; sent += 1) await guess('nobody@brennan.example', 'wrong');
  const { statusCode, text } = await guess('nobody@brennan.example', 'wrong');
  t.equal(statusCode, 429, 'an unknown account is locked as a known one is');
  t.match(text, TOO_MANY);
  const statuses = new Map<number, number>();
  for (let sent = 0; sent < GUESSES; sent += 50) {
    const batch = Array.from({ length: 50 }, (_value, index) =>
      guess(EMAIL, `guess ${sent + index} is wrong`),
    );
    for (const { statusCode } of await Promise.all(batch))
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
  }
  t.strictSame(Object.fromEntries(statuses), { 422: 5, 429: GUESSES - 5 });
  t.equal((await guess(EMAIL, PASSWORD)).statusCode, 429, 'the right one comes too late');
  t.equal((await guess(EMAIL, PASSWORD, '203.0.113.9')).statusCode, 303, 'its owner gets in from elsewhere');
});

const COOKIE = 'fieldledger_browser';

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
  return (await again.signIn(EMAIL, password)).statusCode;
}

onSqlite('a known browser has five guesses of its own, which are nobody else’s', async (t, portal) => {
  const [one, other] = [await portal.signedIn(), await portal.signedIn()];
  const statuses = [];
  for (let sent = 0; sent < 6; sent += 1) statuses.push(await signInAgain(portal, one, 'wrong'));
  t.strictSame(statuses, [422, 422, 422, 422, 422, 429]);
  t.equal(await signInAgain(portal, one), 429, 'the right one comes too late');
  t.equal(await signInAgain(portal, other), 303);
  t.equal(await signInAgain(portal, portal.visitor()), 303, 'nor is the network’s');
});

onEachEngine(
  "guesses from elsewhere don't lock a browser out that is known, until the password changes",
  { trustedProxies: 1 },
  async (t, portal) => {
    const [owner, elsewhere] = [await portal.signedIn(), await portal.signedIn()];
    const { visitor: colleague } = await portal.join();
    await lockOut(portal);
    t.equal(await signInAgain(portal, portal.visitor()), 429, 'a browser that nobody knows has to wait');
    t.equal(await signInAgain(portal, colleague), 429, 'a colleague’s browser is none of hers');
    t.equal(await signInAgain(portal, elsewhere), 303);
    await owner.visit('/portal/account');
    const fields = { present: PASSWORD, ...typedTwice(NEW_PASSWORD) };
    t.equal((await owner.submit('/portal/account/password', fields)).statusCode, 303, 'nor the account page');
    t.equal(await signInAgain(portal, elsewhere, NEW_PASSWORD), 429, 'it has to show the new one first');
    t.equal(await signInAgain(portal, owner, NEW_PASSWORD), 303, 'as the browser has in which it was set');
  },
);
