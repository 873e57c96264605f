import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import {
  createAccessPoint,
  type DocumentToHandOver,
} from '../../../../src/server/features/hand-over/access-point.ts';
import { runOnFullDisk } from '../../commands/_full-disk.ts';
import { openFolder, pointAt } from './_hand-over.ts';

const ID = '01930000-0000-7000-8000-000000000001';
const handed: DocumentToHandOver = {
  company: 'brook',
  id: ID,
  number: 'INV-2026-0001',
  text: '<a>é</a>',
  attempt: 1,
};
const NAME = `brook_INV-2026-0001_${ID}.xml`;

t.test('a document is one whole file, which its group may read', async (t) => {
  const { folder, accessPoint } = openFolder(t);
  t.same(await accessPoint.take(handed), {});
  t.strictSame(readdirSync(folder), [NAME]);
  t.equal(readFileSync(join(folder, NAME), 'utf8'), handed.text);
  t.equal(statSync(join(folder, NAME)).mode & 0o777, 0o640);
});

t.test('a file that is there is as good with the same content, and stays with another', async (t) => {
  const { folder, accessPoint } = openFolder(t);
  await accessPoint.take(handed);
  const { mtimeMs, ino } = statSync(join(folder, NAME));
  t.same(await accessPoint.take({ ...handed, attempt: 2 }), {});
  t.match(statSync(join(folder, NAME)), { mtimeMs, ino });
  for (const text of ['<b>é</b>', '']) {
    writeFileSync(join(folder, NAME), text);
    t.same(await accessPoint.take({ ...handed, attempt: 3 }), { problem: 'taken' });
    t.equal(readFileSync(join(folder, NAME), 'utf8'), text);
  }
});

t.test('what killed processes have left goes with the next attempt', async (t) => {
  const { folder, accessPoint } = openFolder(t);
  for (const attempt of [1, 2]) writeFileSync(join(folder, `${NAME}.unfinished-${attempt}`), '<a>');
  t.same(await accessPoint.take({ ...handed, attempt: 3 }), {});
  t.strictSame(readdirSync(folder), [NAME]);
});

t.test('a number never leads out of the folder', async (t) => {
  const { folder } = openFolder(t);
  const inner = join(folder, 'inner');
  mkdirSync(inner);
  const accessPoint = pointAt(t, inner);
  const long = 'x'.repeat(5_000);
  const paths = '../../x /etc/passwd ../.. .'.split(' ');
  for (const number of [...paths, '', 'a\0b', long, '\u202eINV', '-rf *', 'CON:'])
    t.same(await accessPoint.take({ ...handed, number }), {}, number);
  t.strictSame(readdirSync(folder), ['inner']);
  for (const name of readdirSync(inner)) t.match(name, /^brook_[\w-]{0,64}_01930000[\w-]+\.xml$/);
  t.same(await accessPoint.take({ ...handed, company: '../..', id: '../..', number: 'x' }), {});
  t.strictSame(readdirSync(folder), ['inner']);
});

t.test('a folder that can’t be written to is told by the system’s word', async (t) => {
  const { folder, accessPoint } = openFolder(t);
  writeFileSync(join(folder, 'file'), '');
  t.same(await pointAt(t, join(folder, 'file')).take(handed), { problem: 'ENOTDIR' });
  t.same(await pointAt(t, join(folder, 'missing')).take(handed), { problem: 'ENOENT' });
  mkdirSync(join(folder, `${NAME}.unfinished-1`));
  t.match(await accessPoint.take(handed), { problem: /^E/ });
  rmSync(folder, { recursive: true });
  t.same(await accessPoint.take(handed), { problem: 'ENOENT' });
  // Root may write everywhere.
  if (process.getuid?.() === 0) return;
  mkdirSync(folder);
  chmodSync(folder, 0o500);
  t.same(await accessPoint.take(handed), { problem: 'EACCES' });
});

t.test('a folder that hangs keeps neither other documents nor the end of the process', async (t) => {
  const { folder, accessPoint } = openFolder(t, { dropMsMax: 3_000 });
  // A reader of a named pipe waits for a writer, and no signal to a thread ends that.
  execFileSync('mkfifo', [join(folder, NAME)]);
  t.same(await accessPoint.take({ ...handed, text: '' }), { problem: 'timeout' });
  t.same(await accessPoint.take({ ...handed, number: 'INV-2' }), {});
  const hanging = accessPoint.take({ ...handed, text: '' });
  await accessPoint[Symbol.asyncDispose]();
  t.match(await hanging, { problem: /interrupted|timeout/ });
});

t.test('a folder that is full keeps no half of a document', async (t) => {
  const { folder } = openFolder(t);
  const source = new URL('../../../../src/server/features/hand-over/access-point.ts', import.meta.url).href;
  const script = `
    import { createAccessPoint } from '${source}';
    const point = createAccessPoint({ folder: '${folder}', serviceName: 'Acme' });
    const handed = { ...${JSON.stringify(handed)}, text: 'x'.repeat(100_000) };
    process.stderr.write(JSON.stringify(await point.take(handed)));
    await point[Symbol.asyncDispose]();`;
  const args = ['--input-type=module', '--eval', script];
  const { stderr } = await runOnFullDisk(args, { home: folder, kilobytes: 16, program: process.execPath });
  t.match(stderr, /\{"problem":"EFBIG"\}/);
  t.strictSame(readdirSync(folder), []);
});

t.test('an address is one that may be called', async (t) => {
  const sender = { send: async () => t.fail('Nothing is sent.') } as never;
  const create = (url: string) => () => createAccessPoint({ url, serviceName: 'Acme' }, sender);
  const hosts = ['10.0.0.1/', 'localhost/', 'a:b@hooks.example.com/', 'x.internal'];
  for (const host of hosts) t.throws(create(`https://${host}`), /^ACCESS_POINT_URL is refused\. /, host);
  t.equal(createAccessPoint({ serviceName: 'Acme' }, sender), undefined);
});

t.test('an answer from 200 to 299 takes a document', async (t) => {
  const settings = { url: 'https://hooks.example.com/', serviceName: 'Acme' };
  for (const status of [199, 200, 299, 300]) {
    const sender = { send: async () => ({ status, error: null }) } as never;
    const problem = status === 200 || status === 299 ? undefined : String(status);
    t.equal((await createAccessPoint(settings, sender)?.take(handed))?.problem, problem);
  }
});
