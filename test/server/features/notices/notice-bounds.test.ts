import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { noticeTexts } from '../../../../src/server/features/notices/texts.ts';
import {
  addNotice,
  listNotices,
  type NoticeKind,
} from '../../../../src/server/store/accounts/notice-rows.ts';
import { STORY_NOW } from '../../../_server.ts';
import { addAdministrator } from '../../portal/_portal.ts';
import { onEachStore } from '../../store/_stores.ts';
import { mailOnce, startMailServer } from './_mail-server.ts';

const HOUR_MS = 3_600_000;

onEachStore('of a kind a person is told 20 times in 24 hours', async (t, { engine }) => {
  for (const company of ['acme', 'other']) await createCompany(engine, company, {}, STORY_NOW);
  const add = (company: string) => addAdministrator(engine, { company, email: `aoife@${company}.example` });
  const [aoife, other] = [await add('acme'), await add('other')];
  const tell = async (hour: number, kind: NoticeKind, company = 'acme') => {
    const now = new Date(STORY_NOW.getTime() + hour * HOUR_MS);
    const notice = { company, kind, details: { name: `Ledger ${hour}` }, now };
    await engine.transaction((transaction) => addNotice(transaction, notice));
  };
  const told = async (kind: NoticeKind) =>
    (await listNotices(engine, aoife)).filter((notice) => notice.kind === kind);
  for (let count = 0; count < 10; count += 1) await tell(0, 'key.created');
  const conor = await addAdministrator(engine, { company: 'acme', email: 'conor@acme.example' });
  for (let count = 0; count < 25; count += 1) await tell(1, 'key.created');
  const keys = await told('key.created');
  t.equal(keys.length, 20);
  t.equal((await listNotices(engine, conor)).length, 20, 'each has a count of their own');
  const [last = '', ...others] = keys.map((key) => noticeTexts(key, { name: '', timeZone: 'UTC' }, '').text);
  t.match(
    [last, ...others].filter((text) => /20 times in 24 hours/.test(text)),
    { length: 1 },
  );
  await tell(1, 'webhook.registered');
  t.equal((await told('webhook.registered')).length, 1, 'a flood of one kind hides no other');
  await tell(1, 'key.created', 'other');
  t.equal((await listNotices(engine, other)).length, 1, 'nor one of another company');
  await tell(24, 'key.created');
  t.equal((await told('key.created')).length, 21, 'the first ten are older now');
  for (let count = 0; count < 25; count += 1) await tell(1, 'reset.asked');
  t.equal((await told('reset.asked')).length, 25, 'whoever asks for a link is limited there');
});

onEachStore('a company with 2,000 mails to send keeps no other waiting', async (t, { engine }) => {
  for (const company of ['acme', 'other']) {
    await createCompany(engine, company, {}, STORY_NOW);
    await addAdministrator(engine, { company, email: `aoife@${company}.example` });
    const notice = { company, kind: 'reset.used', details: {}, now: STORY_NOW } as const;
    await engine.transaction((transaction) => addNotice(transaction, notice));
  }
  const earlier = new Date(STORY_NOW.getTime() - HOUR_MS).toISOString();
  await engine.run(`
    INSERT INTO notices (company, id, administrator, kind, details, created_at, due_at)
    WITH RECURSIVE made (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < 2000)
    SELECT company, id || '-' || n, administrator, kind, details, created_at, '${earlier}' FROM notices, made
    WHERE company = 'acme'`);
  const { mails, url } = await startMailServer(t);
  await mailOnce(engine, url, STORY_NOW);
  const others = mails.filter(({ to }) => to[0] === 'aoife@other.example');
  t.strictSame([mails.length, others.length], [20, 1]);
});
