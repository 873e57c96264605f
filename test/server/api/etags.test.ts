import { createHash } from 'node:crypto';

import t from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { engineNames, keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';
import { invoiceOf, jobOf, store, uuidOf } from './_records.ts';

for (const name of engineNames) {
  t.test(`${name}: a tag lasts as long as its answer, and no longer`, async (t) => {
    const { server, engine } = await startEmptyServer(t, name);
    await createCompany(engine, 'tagged', {}, STORY_NOW);
    const key = await keyFor(engine, 'tagged');
    const ask = async (path: string, tag = '""') => {
      const { statusCode, headers, body } = await server.http(`api/v1/${path}`, {
        headers: { authorization: `Bearer ${key}`, 'if-none-match': tag, 'accept-encoding': 'identity' },
      });
      return { statusCode, tag: String(headers.etag), body };
    };
    const jobs = ['a', 'b', 'c'].map((id) => jobOf({ id, title: 'Boiler' }));
    await store(engine, 'tagged', [...jobs, invoiceOf({ id: uuidOf(1), issueDate: '2026-11-10' })]);
    const paths = ['jobs/a', 'jobs', 'jobs?limit=1', `invoices/${uuidOf(1)}`, 'invoices', 'people'];
    const first = new Map<string, string>();
    for (const path of paths) {
      const { statusCode, tag } = await ask(path);
      t.equal(statusCode, 200, path);
      t.match(tag, /^"[\w-]{27}"$/);
      t.equal((await ask(path, tag)).statusCode, 304, `${path} again`);
      first.set(path, tag);
    }
    t.strictSame([...new Set(first.values())], [...first.values()], 'each address has a tag of its own here');
    const changedPaths = async () => {
      const changed: string[] = [];
      for (const path of paths) if ((await ask(path, first.get(path))).statusCode === 200) changed.push(path);
      return changed;
    };
    await store(engine, 'tagged', [jobOf({ id: 'c', title: 'Wiring' })]);
    t.strictSame(await changedPaths(), ['jobs'], 'another record');
    await store(engine, 'tagged', [jobOf({ id: 'a', title: 'Wiring' })]);
    t.strictSame(await changedPaths(), ['jobs/a', 'jobs', 'jobs?limit=1'], 'this record');
    await store(engine, 'tagged', jobs);
    t.strictSame(await changedPaths(), [], 'what is as it was has the tag that it had');
    await store(engine, 'tagged', [
      invoiceOf({ id: uuidOf(1), issueDate: '2026-11-10', note: 'Only the document itself shows it.' }),
    ]);
    t.ok((await changedPaths()).includes(`invoices/${uuidOf(1)}`), 'the detail of a document');
    // As those are that were written before there were digests.
    await engine.run('UPDATE jobs SET digest = NULL');
    for (const path of ['jobs/a', 'jobs']) {
      const { tag, body } = await ask(path);
      t.equal(tag, `"${createHash('sha1').update(body).digest('base64url')}"`, 'computed from the answer');
      t.equal((await ask(path, tag)).statusCode, 304);
    }
  });
}
