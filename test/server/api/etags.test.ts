import t from 'tap';
import type { Test } from 'tap';

import {
  customerOf,
  formOf,
  idOf,
  invoiceOf,
  jobOf,
  personOf,
  quoteOf,
  startAcme,
  store,
  submissionOf,
  uuidOf,
} from './_records.ts';

/* That both engines give the same tags is the suite's to see (test/contract/suite-answers.test.ts). */

async function start(t: Test) {
  const { server, engine, headers: own } = await startAcme(t, []);
  const ask = async (path: string, tag = '""') => {
    const { statusCode, headers, body } = await server.http(`api/v1/${path}`, {
      headers: { ...own, 'if-none-match': tag, 'accept-encoding': 'identity' },
    });
    return { statusCode, tag: String(headers.etag), body };
  };
  return { engine, ask };
}

t.test('a tag lasts as long as its answer, and no longer', async (t) => {
  const { engine, ask } = await start(t);
  const jobs = ['a', 'b', 'c'].map((id) => jobOf({ id, title: 'Boiler' }));
  await store(engine, 'acme', [...jobs, invoiceOf({ id: uuidOf(1), issueDate: '2026-11-10' })]);
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
  await store(engine, 'acme', [jobOf({ id: 'c', title: 'Wiring' })]);
  t.strictSame(await changedPaths(), ['jobs'], 'another record');
  await store(engine, 'acme', [jobOf({ id: 'a', title: 'Wiring' })]);
  t.strictSame(await changedPaths(), ['jobs/a', 'jobs', 'jobs?limit=1'], 'this record');
  await store(engine, 'acme', jobs);
  t.strictSame(await changedPaths(), [], 'what is as it was has the tag that it had');
  await store(engine, 'acme', [
    invoiceOf({ id: uuidOf(1), issueDate: '2026-11-10', note: 'Only the document itself shows it.' }),
  ]);
  t.ok((await changedPaths()).includes(`invoices/${uuidOf(1)}`), 'the detail of a document');
});

const lists = {
  jobs: (index: number) => jobOf({ id: idOf('rec', index) }),
  people: (index: number) => personOf({ id: idOf('rec', index) }),
  customers: (index: number) => customerOf({ id: idOf('rec', index) }),
  forms: (index: number) => formOf({ id: idOf('rec', index) }),
  submissions: (index: number) => submissionOf({ id: idOf('rec', index), formId: idOf('rec', 0) }),
  invoices: (index: number) => invoiceOf({ id: uuidOf(index), issueDate: '2026-11-10' }),
  quotes: (index: number) => quoteOf({ id: uuidOf(index) }),
};

t.test(
  'a page of the same records has another tag when a page comes after it, or none any more',
  async (t) => {
    const { engine, ask } = await start(t);
    for (const [resource, record] of Object.entries(lists)) {
      const path = resource === 'submissions' ? `forms/${idOf('rec', 0)}/submissions` : resource;
      const page = async (tag?: string) => ask(`${path}?limit=2`, tag);
      await store(engine, 'acme', [record(0), record(1)]);
      const last = await page();
      t.match(JSON.parse(last.body), { data: { length: 2 }, nextCursor: null }, resource);
      await store(engine, 'acme', [record(2)]);
      const followed = await page(last.tag);
      t.equal(followed.statusCode, 200, `${resource}: a reader learns that there is more`);
      t.match(JSON.parse(followed.body), { data: { length: 2 }, nextCursor: String }, resource);
      await engine.run(`DELETE FROM ${resource} WHERE id = '${record(2).record.id}'`);
      t.strictSame(await page(followed.tag), last, `${resource}: and that there is no more`);
    }
  },
);
