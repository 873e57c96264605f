/** Authority that is used up, or over: a form that was sent, a key after its last day, and a link that was asked for long ago. */
import t from 'tap';

import { createAuthentication, createKey } from '../../../../src/server/features/keys/keys.ts';
import { linkForMail } from '../../../../src/server/features/people/mailed-links.ts';
import {
  authorisedTransaction,
  FormUsedError,
} from '../../../../src/server/store/accounts/authorised-transaction.ts';
import { KEY_PREFIX, STORY_NOW } from '../../../_server.ts';
import { COMPANY, EMAIL, openCompany, signedInAs } from '../../portal/_portal.ts';

const now = STORY_NOW;

t.test('a form does its work once, whether it needs a fresh proof or not', async (t) => {
  const { engine, administrator } = await openCompany(t);
  const by = await signedInAs(engine, administrator);
  for (const isProofNeeded of [true, false]) {
    let done = 0;
    const act = { company: COMPANY, by: { ...by, form: `form-${isProofNeeded}` }, now, isProofNeeded };
    const send = () => authorisedTransaction(engine, act, async () => (done += 1));
    await send();
    await t.rejects(send(), FormUsedError);
    t.equal(done, 1);
  }
});

t.test('a key that was looked up is looked up again when its last day is over', async (t) => {
  const { engine } = await openCompany(t);
  const made = { prefix: KEY_PREFIX, company: COMPANY, name: 'K', scopes: ['jobs:read'], now };
  const { key } = await createKey(engine, made);
  const endsMs = Date.now() + 3_600_000;
  await engine.run(`UPDATE api_keys SET ends_at = '${new Date(endsMs).toISOString()}'`);
  const authenticate = createAuthentication(engine, { keyPrefix: KEY_PREFIX, windowSeconds: 60 });
  const ask = () => authenticate(`Bearer ${key}`);
  const found = await ask();
  t.equal(await ask(), found, 'until then it is remembered');
  t.intercept(Date, 'now', { value: () => endsMs });
  t.not(await ask(), found);
  await engine.run("UPDATE api_keys SET ends_at = '2020-01-01T00:00:00.000Z'");
  await t.rejects(ask(), { code: 'revoked_key' });
});

t.test('a link for a new password is mailed within the hour after it was asked for', async (t) => {
  const { engine, administrator } = await openCompany(t);
  const notice = {
    ...{ company: COMPANY, id: 'n', administrator: administrator.id, kind: 'reset.asked' as const },
    ...{
      details: {},
      createdAt: now.toISOString(),
      state: 'sending' as const,
      attemptCount: 1,
      problem: null,
    },
  };
  const linkAfter = (ms: number) =>
    engine.transaction((open) => linkForMail(open, notice, new Date(now.getTime() + ms)));
  t.match(await linkAfter(3_600_000), { link: { kind: 'reset', email: EMAIL } });
  t.equal(await linkAfter(3_600_001), undefined);
});
