import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && !path.includes('/released/') && !path.startsWith('generated/'));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Each run of comment lines as one text. A page of Markdown is one, without its links: they have a test of their own. */
function proseOf(path: string, text: string): string[] {
  if (path.endsWith('.md')) return [text.replaceAll(/\[[^\]]*\]\([^)]*\)/g, '')];
  const mark = /\.(?:ts|js|css)$/.test(path) ? /^\s*(?:\/\*+|\*|\/\/)|\s\/\/ / : /^\s*#(?!!)/;
  const runs: string[] = [];
  let inRun = false;
  for (const line of text.split('\n')) {
    const found = mark.exec(line);
    const prose = found ? line.slice(found.index + found[0].length) : '';
    if (found && inRun) runs.push(`${runs.pop()} ${prose.trim()}`);
    else if (found) runs.push(prose.trim());
    inRun = found !== null;
  }
  return runs;
}

/** The file that a text in `path` names: beside it, from the root, or anywhere if there is one such file. */
function fileOf(path: string, name: string): string | undefined {
  const beside = posix.join(posix.dirname(path), name);
  const anywhere = files.filter((file) => file.endsWith(`/${name}`));
  return (
    [beside, name].find((file) => files.includes(file)) ?? (anywhere.length === 1 ? anywhere[0] : undefined)
  );
}

/** Whether a file has a heading, a tag, an operation or a member of that name, or a paragraph that begins with it. */
function hasSection(file: string, name: string): boolean {
  const beginnings = [`**${name}.**`, `**${name}**`, `${name}:`];
  return read(file)
    .split('\n')
    .map((line) => line.trim().replace(/^(?:#+|- name:|operationId:) /, '='))
    .some((line) => line === `=${name}` || beginnings.some((beginning) => line.startsWith(beginning)));
}

const NAMED_FILE = /(?<![\w/.:@*<-])(?:\.{1,2}\/)*\w[\w.-]*(?:\/[\w.-]+)*\.(?:ts|md|yaml)(?![\w*-])/g;
const NAMED_SECTIONS = /([\w./-]+\.(?:md|yaml)), ((?:["`][^"`]+["`](?: and )?)+)/g;

/** The citations in a text that lead nowhere. */
function lostCitations(path: string, prose: string): string[] {
  const names = [...prose.matchAll(NAMED_FILE)].map(([name]) => name);
  const sections = [...prose.matchAll(NAMED_SECTIONS)].flatMap(([, name = '', list = '']) =>
    [...list.matchAll(/"([^"]+)"|`([^`]+)`/g)].map(([, a, b]) => ({ name, section: a ?? b ?? '' })),
  );
  const isLost = ({ name, section }: { name: string; section: string }) => {
    const file = fileOf(path, name);
    return file !== undefined && !hasSection(file, section);
  };
  return [
    ...names.filter((name) => fileOf(path, name) === undefined),
    ...sections.filter(isLost).map(({ name, section }) => `${name}, ${section}`),
  ];
}

t.test('every file and every section that a comment or a page names is in the repository', async (t) => {
  const lost = files
    .filter((path) => /\.(?:ts|js|css|ya?ml|py|md)$|file$|^\./.test(path))
    .flatMap((path) =>
      proseOf(path, read(path)).flatMap((prose) =>
        lostCitations(path, prose).map((citation) => `${path}: ${citation}`),
      ),
    );
  t.strictSame(lost, []);
});

t.test('a lost citation is found', async (t) => {
  const lost = (comment: string) =>
    proseOf('src/log.ts', comment).flatMap((prose) => lostCitations('src/log.ts', prose));
  const absent = ['absent', 'ts'].join('.');
  t.strictSame(lost(`/** As ${absent} has it. */`), [absent]);
  t.strictSame(lost(`const a = 1; // See ./store/${absent}.`), [`./store/${absent}`]);
  t.strictSame(lost('/*\n * Keys (openapi.yaml,\n * "Authorship").\n */'), ['openapi.yaml, Authorship']);
  t.strictSame(lost('/** Keys (openapi.yaml, "Errors and retries" and "Retries"). */'), []);
});
