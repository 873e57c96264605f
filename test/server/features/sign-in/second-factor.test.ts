import t, { type Test } from 'tap';

import {
  addSecondFactor,
  proposeSecondFactor,
  consumeSecondFactorCode,
} from '../../../../src/server/features/sign-in/second-factor.ts';
import { createSecretBox } from '../../../../src/server/process/secret-box.ts';
import { type Administrator, findAccount } from '../../../../src/server/store/accounts/administrator-rows.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { sealSecrets } from '../../../../src/server/features/webhooks/secret-key.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../../_server.ts';
import { addAdministrator, COLLEAGUE, openCompany, signedInAs } from '../../portal/_portal.ts';
import { totpAt } from '../../../_totp.ts';

const box = PORTAL_SETTINGS.secrets;
const at = (seconds: number) => new Date(STORY_NOW.getTime() + seconds * 1000);
/** The code of an app, some seconds after the story's moment. */
const codeAt = (secret: string, seconds: number) => totpAt(secret, STORY_NOW.getTime() / 1000 + seconds);

/** A company with two administrators, of whom nobody has a second factor. */
async function openPair(t: Test) {
  const { engine, administrator: owner } = await openCompany(t);
  return { engine, owner, colleague: await addAdministrator(engine, COLLEAGUE) };
}

/** Sets up a second factor with its code of a moment. @returns its secret and recovery codes. */
async function setUp(engine: Engine, owner: Administrator, now = STORY_NOW) {
  const { secret, sealed } = proposeSecondFactor(box, owner, { issuer: 'Test' });
  const code = totpAt(secret, now.getTime() / 1000);
  const act = { company: owner.company, by: await signedInAs(engine, owner), now: STORY_NOW };
  return { secret, recovery: await addSecondFactor(engine, box, { ...act, sealed, code }) };
}

/** Takes a code as a sign-in or a proof does. */
async function take(engine: Engine, { company, id }: Administrator, given: string, now = STORY_NOW) {
  return engine.transaction(async (transaction) => {
    const account = await findAccount(transaction, { company, id });
    return account && consumeSecondFactorCode(transaction, box, account, { given, now });
  });
}

t.test('the codes of RFC 6238 are taken', async (t) => {
  const { engine, owner } = await openPair(t);
  const { company, id } = owner;
  const sealed = box.seal('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', { company, id });
  const by = await signedInAs(engine, owner);
  await engine.run("UPDATE portal_sessions SET expires_at = '9999', proved_at = '9999'");
  const vectors = { 59: '287082', 1111111109: '081804', 1111111111: '050471', 1234567890: '005924' };
  for (const [seconds, code] of Object.entries({ ...vectors, 2000000000: '279037', 20000000000: '353130' })) {
    const add = { company, by, now: new Date(Number(seconds) * 1000), sealed };
    t.equal((await addSecondFactor(engine, box, { ...add, code })).length, 10, `${seconds} s`);
    const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    await t.rejects(addSecondFactor(engine, box, { ...add, code: wrong }), /code is wrong/);
  }
});

/** Codes of some moment that are given at another, one after the other. */
const given: [what: string, now: number, of: number, isTaken: boolean][] = [
  ['what was typed to set it up', 0, 0, false],
  ['and from before', 0, -30, false],
  ['what was typed to set it up, while it is still shown by a slow clock', 29, 0, false],
  ['61 s ahead', 0, 61, false],
  ['30 s ahead', 0, 30, true],
  ['taken before', 0, 30, false],
  ['older than the last one', 0, 0, false],
  ['61 s late', 120, 59, false],
  ['30 s late', 120, 90, true],
];

t.test('a code is good once and for a minute and a half, and setting it up uses its code up', async (t) => {
  const { engine, owner } = await openPair(t);
  const { secret } = await setUp(engine, owner);
  for (const [what, now, of, isTaken] of given) {
    const code = codeAt(secret, of);
    const spaced = ` ${code.slice(0, 3)} ${code.slice(3)}`;
    t.equal(await take(engine, owner, spaced, at(now)), isTaken ? 'authenticator app' : undefined, what);
  }
  const early = await setUp(engine, owner, at(-30));
  t.equal(await take(engine, owner, codeAt(early.secret, -30)), undefined, 'nor that of half a minute ago');
  t.equal(
    await take(engine, owner, codeAt(early.secret, 0)),
    'authenticator app',
    'but the next one is good',
  );
});

t.test('a recovery code is good once, and no other text is', async (t) => {
  const { engine, owner, colleague } = await openPair(t);
  const { secret, recovery } = await setUp(engine, owner);
  t.equal(new Set(recovery).size, 10);
  const [stored] = await engine.run(
    "SELECT second_factor, recovery_codes FROM administrators WHERE email LIKE 'a%'",
  );
  for (const shown of [secret, ...recovery, ...recovery.map((code) => code.replaceAll('-', ''))])
    t.notOk(JSON.stringify(stored).includes(shown), 'what is shown once is not stored');
  const [, , , code = '', other = ''] = recovery;
  t.equal(await take(engine, owner, ` ${code.toLowerCase().replaceAll('-', ' ')}`), 'recovery code');
  t.equal(await take(engine, owner, code), undefined);
  t.equal(await take(engine, owner, other), 'recovery code', 'the others stay');
  for (const text of ['', '000000', 'x'.repeat(500), `${codeAt(secret, 30)}0`, 'null'])
    t.equal(await take(engine, owner, text), undefined, text.slice(0, 10));
  t.equal(await take(engine, colleague, codeAt(secret, 30)), undefined, 'nor is it anybody else’s');
});

t.test('secrets are sealed for their owner, and anew with another key', async (t) => {
  const { engine, owner, colleague } = await openPair(t);
  const { secret, sealed } = proposeSecondFactor(box, colleague, { issuer: 'Test' });
  const act = { company: owner.company, by: await signedInAs(engine, owner), now: STORY_NOW };
  for (const stolen of [sealed, '', 'whsec_AAAA', `whsec_${sealed}`])
    await t.rejects(
      addSecondFactor(engine, box, { ...act, sealed: stolen, code: codeAt(secret, 0) }),
      stolen,
    );
  const own = await setUp(engine, owner);
  const [key, former] = [8, 7].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  t.strictSame(await sealSecrets(engine, createSecretBox(key, former)), { sealedCount: 1, problems: [] });
  const [stored] = await engine.run("SELECT second_factor FROM administrators WHERE second_factor <> ''");
  t.equal(createSecretBox(key).open(String(stored?.second_factor), owner), own.secret);
  await t.rejects(take(engine, owner, codeAt(own.secret, 30)), /sealed with another WEBHOOK_SECRET_KEY/);
  t.equal(await take(engine, owner, own.recovery[0] ?? ''), 'recovery code', 'which need no key');
});
