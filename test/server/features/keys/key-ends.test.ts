import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { tellKeyEnds } from '../../../../src/server/features/keys/key-ends.ts';
import { changeKey, revokeKey } from '../../../../src/server/features/keys/keys.ts';
import { noticeTexts } from '../../../../src/server/features/notices/texts.ts';
import { listNotices } from '../../../../src/server/store/accounts/notice-rows.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { STORY_NOW } from '../../../_server.ts';
import { addAdministrator, COLLEAGUE, COMPANY, EMAIL, makeKey } from '../../portal/_portal.ts';
import { onEachStore } from '../../store/_stores.ts';

onEachStore('each is told once of a key that ends, a week before', async (t, { engine, url }) => {
  await using other = await openEngine(url);
  for (const company of [COMPANY, 'other'])
    await createCompany(engine, company, { timeZone: 'Europe/Dublin' }, STORY_NOW);
  const [aoife, stranger] = [
    await addAdministrator(engine, { email: EMAIL }),
    await addAdministrator(engine, { email: EMAIL, company: 'other' }),
  ];
  const key = await makeKey(engine, 'Ledger', { lastDay: '2026-11-30' });
  await makeKey(engine, 'Goes on');
  const revoked = await makeKey(engine, 'Revoked', { lastDay: '2026-11-29' });
  await revokeKey(engine, COMPANY, revoked.id, STORY_NOW);
  const toldBy = async (at: string, who = aoife) => {
    await Promise.all([engine, other].map((one) => tellKeyEnds(one, new Date(`${at}:00.000Z`))));
    return (await listNotices(engine, who)).filter(({ kind }) => kind === 'key.ending');
  };
  t.strictSame(await toldBy('2026-11-23T23:59'), []);
  const [notice, ...more] = await toldBy('2026-11-24T00:00');
  if (!notice) throw new Error('Nobody is told.');
  t.strictSame(more, [], 'of two processes one tells');
  const { subject, text } = noticeTexts(notice, { name: '', timeZone: 'UTC' }, '');
  t.equal(subject, 'The API key “Ledger” ends soon');
  t.match(
    text,
    /The last day of the key “Ledger”, [0-9a-f]{12}, is 30 Nov 2026\. After that, programs using it are refused/,
  );
  t.notMatch(notice.id, /[.:]/, 'the id is part of a mail’s address');
  const conor = await addAdministrator(engine, COLLEAGUE);
  t.equal((await toldBy('2026-11-30T23:00')).length, 1);
  t.equal((await toldBy('2026-11-30T23:00', conor)).length, 0, 'a key is told of once');
  const change = { company: COMPANY, id: key.id, name: 'Ledger', by: 'operator' } as const;
  await changeKey(engine, { ...change, lastDay: '2027-01-31', now: STORY_NOW });
  t.equal((await toldBy('2027-01-20T00:00')).length, 1);
  t.equal((await toldBy('2027-01-30T00:00')).length, 2, 'a later day is told of anew');
  t.equal((await toldBy('2027-02-01T00:00')).length, 2);
  t.strictSame(await toldBy('2027-01-30T00:00', stranger), []);
});
