import t from 'tap';

import { hashPassword } from '../../src/access/passwords.ts';
import { updateAdministratorRow } from '../../src/store/administrators.ts';
import { guesser } from './_guesser.ts';
import { addAdministrator, EMAIL, hiddenFields, PASSWORD, startPortal } from './_portal.ts';

const WRONG = 'The e-mail address or the password is wrong.';
const TOO_MANY = /There were too many attempts to sign in. Try again in \d+ minutes\./;

t.test(
  'an unknown address is answered like a wrong password, in the same words and with the same work',
  async (t) => {
    const portal = await startPortal(t, 'sqlite', { trustedProxies: 1 });
    const password = await hashPassword(PASSWORD);
    await portal.engine.transaction((transaction) =>
      updateAdministratorRow(transaction, portal.administrator.id, { password }),
    );
    const guess = await guesser(portal);
    const timed = async (email: string, address: string) => {
      const startedAt = performance.now();
      const { statusCode, text } = await guess(email, 'wrong password', address);
      return { ms: performance.now() - startedAt, answer: [statusCode, text.replace(email, 'EMAIL')] };
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
    t.comment(`known ${Math.round(median(known))} ms, unknown ${Math.round(median(unknown))} ms`);
    // Hashing takes a quarter of a second; without it an answer takes some milliseconds.
    t.ok(median(unknown) > median(known) / 2, 'an unknown address is not answered sooner');
    t.ok(median(known) > median(unknown) / 2, 'nor later');
  },
);

t.test('an unknown account is locked as a known one is', async (t) => {
  const portal = await startPortal(t, 'sqlite', { trustedProxies: 1 });
  const guess = await guesser(portal);
  for (const email of [EMAIL, 'nobody@brennan.example']) {
    for (let sent = 0; sent < 5; sent += 1) await guess(email, 'wrong');
    const { statusCode, text } = await guess(email, 'wrong');
    t.equal(statusCode, 429, email);
    t.match(text, TOO_MANY);
  }
});

t.test('who mistypes their password now and then is not locked out', async (t) => {
  const portal = await startPortal(t);
  const guess = await guesser(portal);
  for (let round = 0; round < 4; round += 1) t.equal((await guess(EMAIL, 'oops')).statusCode, 422);
  for (let round = 0; round < 20; round += 1) t.equal((await guess(EMAIL, PASSWORD)).statusCode, 303);
});

t.test('the present password can be guessed no better on the account page', async (t) => {
  const portal = await startPortal(t);
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/account');
  const hidden = hiddenFields(visitor.shown, '/portal/account/password');
  const next = 'granite lanterns drift north';
  const statuses = [];
  for (let sent = 0; sent < 6; sent += 1) {
    const fields = { ...hidden, present: `guess ${sent}`, password: next, 'password-again': next };
    statuses.push((await visitor.send('/portal/account/password', fields)).statusCode);
  }
  t.strictSame(statuses, [422, 422, 422, 422, 422, 429]);
});

t.test('whoever was removed is told what an unknown address is told', async (t) => {
  const portal = await startPortal(t);
  await addAdministrator(portal.engine, {
    email: 'conor@brennan.example',
    password: 'seven quiet bells ring',
  });
  await portal.engine.run("UPDATE administrators SET disabled_at = '2026-11-20' WHERE email LIKE 'conor%'");
  const guess = await guesser(portal);
  const { statusCode, text } = await guess('conor@brennan.example', 'seven quiet bells ring');
  t.equal(statusCode, 422);
  t.match(text, new RegExp(WRONG));
});
