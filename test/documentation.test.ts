import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';
import { parse } from 'yaml';

import { describeConfig, readConfig } from '../src/server/process/config.ts';
import { openEngine } from '../src/server/store/engines/open-engine.ts';
import { callCommand, openWorkplace } from './_command.ts';
import { openDoor, tokenFor } from './server/feed/_door.ts';

/*
 * Holds the documents against the program: their links lead somewhere, their tables are
 * those of the program, and their commands work.
 */

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const READMES = [
  'README.md',
  'src/README.md',
  'src/dependencies.md',
  'src/server/operating/README.md',
  'src/server/backoffice/README.md',
  'src/client/README.md',
  'src/client/sync/README.md',
];
const FEEDING = read('src/server/backoffice/README.md');

/** The cells of the tables whose first cell is as given, without their heads. */
function rowsOf(text: string, head: string): string[][] {
  const [, ...tables] = text.split(`\n| ${head} |`);
  return tables.flatMap((table) => {
    const [rows = ''] = table.split('\n\n');
    return rows
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').slice(1, -1))
      .map((cells) => cells.map((cell) => cell.trim()));
  });
}

/** The texts that a cell has in backquotes. */
const codesIn = (cell = '') => [...cell.matchAll(/`([^`]*)`/g)].map(([, code = '']) => code);

const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);

/** A heading's name in a link, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

t.test('every link leads to a file, and to a heading in it', async (t) => {
  for (const path of READMES) {
    for (const [link, target = '', anchor] of read(path).matchAll(
      /\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g,
    )) {
      const file = target === '' ? path : join(dirname(path), target);
      t.ok(existsSync(join(root, file)), `${path}: ${link}`);
      if (anchor === undefined || !existsSync(join(root, file))) continue;
      const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
      t.ok(headings.includes(anchor), `${path}: ${link}`);
    }
  }
});

t.test('the table of settings has every setting with its default', async (t) => {
  const rows = rowsOf(read('src/server/operating/README.md'), 'Setting');
  const settings = rows.map(([name, fallback]) => [codesIn(name)[0] ?? '', codesIn(fallback)[0]] as const);
  const described = describeConfig({});
  t.strictSame(settings.map(([name]) => name).sort(), described.map(({ name }) => name).sort());
  const defaults = readConfig({});
  for (const [name, fallback] of settings) {
    if (fallback !== undefined) t.strictSame(readConfig({ [name]: fallback }), defaults, name);
  }
  const isSet = settings.filter(([, fallback]) => fallback !== undefined).map(([name]) => name);
  const withValue = described.filter(({ value }) => value !== '').map(({ name }) => name);
  // Empty lists are none to be shown.
  t.strictSame(
    isSet.sort(),
    [...withValue, 'MANAGEMENT_NAMES', 'OWN_ADDRESSES'].sort(),
    'and those without a default have none',
  );
});

t.test('the tables of packages have every package', async (t) => {
  const declaredIn = (folder: string) => {
    const { dependencies = {}, devDependencies } = JSON.parse(read(`${folder}package.json`)) as {
      dependencies?: object;
      devDependencies: object;
    };
    return Object.keys({ ...dependencies, ...devDependencies });
  };
  const listed = rowsOf(read('src/dependencies.md'), 'Package').flatMap(([names = '']) => names.split(', '));
  const declared = new Set(['', 'test/interop/', 'test/bench/'].flatMap(declaredIn));
  t.strictSame(listed.sort(), [...declared].filter((name) => !name.startsWith('@types/')).sort());
});

t.test('the layout has every folder of the source', async (t) => {
  const [, layout = ''] = /^ {4}src\/\n(.*?)^ {4}test\//ms.exec(read('src/README.md')) ?? [];
  const [, server = ''] = layout.split(/^ {6}server\/ /m);
  for (const [path, text, indent] of [
    ['src', layout, 6],
    ['src/server', server, 8],
  ] as const) {
    const entries = readdirSync(join(root, path), { withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    const named = text.matchAll(new RegExp(`^ {${indent}}([\\w-]+)/ `, 'gm'));
    t.strictSame([...named].map(([, name]) => name).sort(), folders.sort());
  }
});

t.test('every command that is named exists, with its options', async (t) => {
  const kit = readdirSync(join(root, 'src/server/operating')).map((name) => `src/server/operating/${name}`);
  // In a clone, in text, at the place of the archive, and as a line of a shell or of a comment.
  const command = /(?:npx --no |`|\/bin\/|^(?: {4}|# +))fieldledger((?: [a-z]+(?:-[a-z]+)*)+)([^`#|\n]*)/gm;
  const named = (path: string) => [...read(path).matchAll(command)];
  for (const name of ['README.md', 'fieldledger.service', 'fieldledger-backup.service'])
    t.ok(named(`src/server/operating/${name}`).length > 0, name);
  for (const path of new Set([...READMES, ...kit]))
    for (const [whole, words = '', rest = ''] of named(path)) {
      const where = `${path}: ${whole}`;
      const [first = '', second = ''] = words.trim().split(' ');
      const { stdout: help } = await callCommand([first, '--help']);
      t.match(help, `Usage: fieldledger ${first} `, where);
      const hasCommands = help.includes('\nCommands:\n');
      const { stdout } = hasCommands ? await callCommand([first, second, '--help']) : { stdout: help };
      if (hasCommands) t.match(stdout, `Usage: fieldledger ${first} ${second} `, where);
      for (const [option] of rest.matchAll(/--[a-z-]+/g))
        t.match(stdout, new RegExp(`${option}(?![a-z-])`), where);
    }
});

t.test('no published line lets npx take our name from the public registry', async (t) => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const published = ['README.md', 'Makefile', 'openapi.yaml', 'webhooks.yaml']
    .concat(sources.map((path) => `src/${path}`))
    .filter((path) => /(file|\.(md|ya?ml|ts|js|py|txt|conf|service))$/.test(path));
  // As a line of a shell, and as the list of a program's arguments.
  const asking = /\b(npx|bunx|dlx|npm (exec|install|i))\b["',\s]+(?!--no\b)([-\w=]+["',\s]+)*fieldledger\b/g;
  const found = published.flatMap((path) =>
    [...read(path).matchAll(asking)].map(([line]) => `${path}: ${line}`),
  );
  t.strictSame(found, []);
  const lines = ['npx fieldledger serve', '["npx", "fieldledger"]', 'npm install -g fieldledger'];
  for (const line of [...lines, 'npx -y fieldledger']) t.match(line, new RegExp(asking.source), line);
});

t.test('the way from the first company to the first paid invoice can be gone', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  const { folder, databaseUrl } = workplace;
  const program = join(root, 'src', 'fieldledger.js');
  const env = { PATH: process.env.PATH, HOME: folder, DATABASE_URL: databaseUrl };
  const options = { cwd: folder, env, encoding: 'utf8' } as const;
  // As npx finds it in a clone.
  const script = blocksOf(FEEDING, 'sh').join('').replaceAll('npx --no fieldledger', program);
  const { stdout, stderr } = await run('bash', ['-ec', script], options);
  t.match(stdout, /30 items, nothing is missing/);
  t.match(stdout, '"number":"INV-2026-1042"'.replace('2026', String(new Date().getUTCFullYear())));
  t.match(stdout, /"amountDueMinor":0,/);
  t.match(stdout, /^fl\.acme\.[0-9a-f]+\.[\w-]+$/m, 'the key');
  t.match(stderr, /^5 lines: 5 applied, 0 skipped, 0 refused/m);
  t.equal(readFileSync(join(folder, 'invoice.pdf'), 'latin1').slice(0, 5), '%PDF-');

  await t.test('and gone on from over HTTP, as the page and the reference tell', async (t) => {
    await using engine = await openEngine(databaseUrl);
    const { token } = await tokenFor(engine);
    await using door = await openDoor(engine, token, { now: () => new Date() });
    const answersOf = async (block = '') => {
      const aimed = block.replace(/https?:\/\/(?:127\.0\.0\.1:8090|feed\.example\.com)/, door.url);
      t.not(aimed, block);
      const asked = { ...options, env: { ...env, FEED_TOKEN: token } };
      return (await run('bash', ['-ec', aimed], asked)).stdout.trimEnd().split('\n');
    };
    const parsed = (lines: string[]) => lines.map((line) => JSON.parse(line) as object);
    const [first, second] = blocksOf(FEEDING, 'bash');
    const [shown = ''] = blocksOf(FEEDING, 'json');
    t.match(parsed(await answersOf(first)), parsed(shown.trimEnd().split('\n')));
    t.match(
      (await answersOf(second)).join(),
      /^(?:\{"line":\d,"id":"\d","status":"applied","record":null\},?){3}$/,
    );
    const { info } = parse(read('src/server/backoffice/feed.yaml')) as { info: { description: string } };
    const [begin, imported] = blocksOf(info.description, 'sh');
    const begun = await answersOf(begin);
    t.equal(begun.length, 9);
    const settled = /"status":"applied","record":\{.*"status":"issued",.*"amountDueMinor":0,/;
    t.match(begun.at(-1), settled);
    t.match((await answersOf(imported)).at(-1), settled);
  });

  await t.test('and the first page’s change of the demo company is made', async (t) => {
    const [, command = ''] = /^ {4}\$ (echo .*)$/m.exec(read('README.md')) ?? [];
    await workplace.call(['demo']);
    const made = await run('bash', ['-ec', command.replace('npx --no fieldledger', program)], options);
    t.match(made.stdout, '{"line":1,"id":"17","status":"applied","record":{"id":"job_0002",');
  });
});
