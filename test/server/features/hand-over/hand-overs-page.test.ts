import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { STORY_NOW } from '../../../_server.ts';
import { handOverOnce, pointAt } from './_hand-over.ts';
import { COMPANY, onSqlite } from '../../portal/_portal.ts';

const PAID = '01a0a486-e8e0-7076-ace5-e31611d48e0a';
const OTHER = '01a15a0c-54c0-737e-abf7-cfe66f9292f6';
const after = (hours: number) => new Date(STORY_NOW.getTime() + hours * 3_600_000);

/** Has a document handed over, as its issue would. */
async function addHandOver(engine: Engine, id: string, columns: Record<string, string> = {}): Promise<void> {
  const at = STORY_NOW.toISOString();
  const row = { company: COMPANY, id, created_at: at, due_at: at, ...columns };
  const texts = Object.values(row).map((value) => `'${value}'`);
  await engine.run('UPDATE companies SET hand_over = 1');
  await engine.run(`INSERT INTO hand_overs (${Object.keys(row).join(', ')}) VALUES (${texts.join(', ')})`);
}

onSqlite('a document tells how it goes to the access point', { hasRecords: true }, async (t, portal) => {
  const { engine } = portal;
  const visitor = await portal.signedIn();
  const path = `/portal/documents/${PAID}`;
  t.notMatch(await visitor.read(path), /access point/, 'one that doesn’t go there says nothing of it');
  await addHandOver(engine, PAID);
  t.match(await visitor.read(path), /Hand-over to the access point State Waiting Back to/);
  t.notMatch(visitor.text, /Hand it over again/);
  await handOverOnce(engine, pointAt(t, '/nowhere'), STORY_NOW);
  t.match(
    await visitor.read(path),
    /State Waiting Next attempt 20 Nov 2026, 12:0[01]:\d\d Hand it over again .* We couldn’t write to the access point’s folder \(ENOENT\)\./,
  );
  const stale = visitor.copy();
  await stale.visit(path);
  await engine.run("UPDATE hand_overs SET due_at = '2026-12-01'");
  t.match(await visitor.act(`${path}/hand-over`), /The document is being handed over again\./);
  const folder = t.testdir({});
  await handOverOnce(engine, pointAt(t, folder), STORY_NOW);
  t.match(await visitor.read(path), /State Handed over Handed over 20 Nov 2026, 12:00:00 Attempts/);
  t.match(
    await stale.refused(`${path}/hand-over`),
    /The document .* has already been handed over\./,
    'a form from before does nothing',
  );
  t.match(await visitor.read('/portal/audit'), new RegExp(`Handed documents over again document: ${PAID}`));
  t.notMatch(await visitor.read('/portal'), /access point/);
});

onSqlite(
  'what failed needs somebody, who hands all of it over again',
  { hasRecords: true },
  async (t, portal) => {
    const { engine } = portal;
    await addHandOver(engine, PAID, {
      state: 'failed',
      problem: '422',
      attempts: JSON.stringify([{ at: STORY_NOW.toISOString(), ms: 3, problem: '422', answer: 'BR-01 <b>' }]),
    });
    await addHandOver(engine, OTHER, { state: 'failed', problem: 'no_e_invoice' });
    const visitor = await portal.signedIn();
    t.match(
      await visitor.read('/portal'),
      /Needs attention .*1 document couldn’t be handed over to the access point\. 1 document can’t be sent as an e-invoice\./,
    );
    t.match(
      await visitor.read('/portal/hand-overs'),
      /2 documents of .* INV-2026-0001 Invoice 20 Nov 2026, 12:00 The response was 422\. +BR-01 <b>/,
    );
    t.match(
      await visitor.act('/portal/hand-overs/again'),
      /1 document is being handed over again\. .*1 document of .* can’t be an e-invoice/,
    );
    t.match(
      await visitor.read(`/portal/documents/${OTHER}`),
      /State Failed Because The document can’t be an e-invoice/,
    );
    t.notMatch(visitor.text, /Hand it over again/);
    await engine.run("UPDATE hand_overs SET state = 'failed', problem = 'waited'");
    t.match(
      await visitor.read(`/portal/documents/${OTHER}`),
      /State Failed Because It waited 30 days without being handed over\. Hand it over/,
    );
    portal.setNow(after(31 * 24));
    await visitor.visit('/portal/sign-in');
    const later = await portal.signedIn();
    t.notMatch(await later.read('/portal'), /access point/, 'after 30 days nobody is told');
  },
);

onSqlite('only who sees documents hands them over', { hasRecords: true }, async (t, portal) => {
  const { engine } = portal;
  await addHandOver(engine, PAID, { state: 'failed', problem: '500' });
  const { visitor: restricted } = await portal.join({ scopes: ['jobs:read'] });
  t.notMatch(await restricted.read('/portal'), /access point/);
  t.equal((await restricted.visit('/portal/hand-overs')).statusCode, 403);
  for (const path of [`/portal/documents/${PAID}/hand-over`, '/portal/hand-overs/again']) {
    await restricted.visit('/portal/account');
    t.equal(await restricted.force(path), 403, path);
  }
  t.match(await engine.run('SELECT state FROM hand_overs'), [{ state: 'failed' }]);
});
