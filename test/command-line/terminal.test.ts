import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { textTable } from '../../src/server/cli/table.ts';
import { createTerminal } from '../../src/command-line/terminal.ts';
import { callCommand, openWorkplace } from '../_command.ts';

/** util-linux has it: it runs a program on a terminal of its own. */
const SCRIPT = '/usr/bin/script';
const program = join(import.meta.dirname, '..', '..', 'src', 'fieldledger.js');

/** Whether a shell is on this machine. */
const has = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

/** Makes a shell find the program. */
const INSTALLED = `fieldledger() { '${process.execPath}' '${program}' "$@"; }\n`;

/** The lines that a person sees of a command on a terminal of 80 columns. */
function onTerminal(commandLine: string, environment: Record<string, string>, input = ''): string[] {
  const { stdout } = spawnSync(SCRIPT, ['-qec', `stty cols 80; '${program}' ${commandLine}`, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', ...environment },
    encoding: 'utf8',
    input,
    timeout: 60_000,
  });
  return stdout.split(/[\r\n]+|\u001b\[\d*G/);
}

t.test('control sequences of a server or a database do not reach the terminal', (t) => {
  const seen = { stdout: '', stderr: '' };
  const terminal = createTerminal(
    {},
    (text) => (seen.stdout += text.toString()),
    (text) => (seen.stderr += text),
  );
  const hostile = 'a\u001b]0;owned\u0007b\u009b31mc\rd\u007f\u202ee\tf';
  const shown = 'a\\u001b]0;owned\\u0007b\\u009b31mc\\u000dd\\u007f\\u202ee\tf';
  terminal.show({}, hostile);
  terminal.tell(hostile);
  terminal.fail(new Error(hostile));
  t.equal(seen.stdout, `${shown}\n`);
  t.ok(seen.stderr.startsWith(`${shown}fieldledger: Error: ${shown}\n`), seen.stderr);
  terminal.setJson(true);
  seen.stdout = '';
  terminal.show({ hostile }, '');
  t.match(seen.stdout, /^[\x20-\x7e]+\n$/);
  t.strictSame(JSON.parse(seen.stdout), { hostile }, 'and JSON stays the same value');
  t.end();
});

t.test('on a terminal of 80 columns', { skip: !existsSync(SCRIPT) }, async (t) => {
  await using workplace = await openWorkplace();
  const environment = { HOME: workplace.folder, DATABASE_URL: workplace.databaseUrl };
  await t.test('no help breaks inside a word, and none is longer than a screen is wide', (t) => {
    // The others are held to it in a pipe (main.test.ts).
    for (const words of ['', 'export']) {
      const lines = onTerminal(`${words} --help`, environment);
      t.ok(lines.length > 5, words);
      t.ok(Math.max(...lines.map((line) => line.length)) <= 80, words);
    }
    t.end();
  });
  await t.test('a bar keeps its end', (t) => {
    const bars = onTerminal('demo --records 2000', environment).filter((line) => line.includes('%'));
    t.match(bars.at(-1), /^.* 100% \| [\d,]+ of [\d,]+ records \| \S* ?(?:left)?/);
    const lengths = bars.map((line) => line.replaceAll(/\u001b\[[\d?]*[A-Za-z]/g, '').length);
    t.ok(Math.max(...lengths) <= 80, lengths.join());
    t.end();
  });
  await t.test('apply says that it waits for changes', (t) => {
    t.match(
      onTerminal('apply', environment, '\u0004')[0],
      /^(?:\^D)?.*Waits for changes, each a line of JSON\./,
    );
    t.end();
  });
});

t.test('an output on a full disk is one sentence', { skip: !existsSync('/dev/full') }, async (t) => {
  await using workplace = await openWorkplace();
  const { PATH } = process.env;
  const env = { PATH, HOME: workplace.folder, DATABASE_URL: workplace.databaseUrl };
  const run = (line: string, input = '') => {
    const { status, stdout, stderr } = spawnSync('bash', ['-c', `'${program}' ${line}`], {
      ...{ env, input, encoding: 'utf8', cwd: workplace.folder },
    });
    return { status, stdout, stderr };
  };
  const problem = "standard output can't be written (ENOSPC)";
  for (const line of ['--help', 'company list', 'company list --json']) {
    const refused = { status: 1, stdout: '', stderr: `fieldledger: ${problem}.\n` };
    t.strictSame(run(`${line} > /dev/full`), refused, line);
  }
  const save = (name: string) => JSON.stringify({ company: 'acme', change: 'company.save', with: { name } });
  const applied = run('apply - > /dev/full', [1, 2, 3].map((name) => save(`Acme ${name}`)).join('\n'));
  t.match(applied, { status: 1, stderr: `stopped after line 1: ${problem}\n` });
  t.match(run('company list 2> /dev/full'), { status: 0, stdout: /^ID +NAME.*\nacme/ });
  t.match(run('company set none --name x 2> /dev/full'), { status: 1, stdout: '' });
});

t.test('a table has its columns below their headings', (t) => {
  const columns = { id: ([id]: string[]) => id ?? '', name: ([, name]: string[]) => name ?? '' };
  const rows = [
    ['1', 'Ünïcode'],
    ['22', ''],
  ];
  t.equal(textTable(rows, columns, 'None.'), 'ID  NAME\n1   Ünïcode\n22');
  t.equal(textTable([], columns, 'None.'), 'None.');
  t.end();
});

t.test(
  'what fits in a line is its commands, options and choices, and nothing where a name of a file goes',
  async (t) => {
    const fitting = async (...words: string[]) =>
      (await callCommand(['completion', 'bash', '--', ...words])).stdout;
    t.equal(await fitting('we'), 'webhook\n');
    t.equal(await fitting('--json', 'export', 'inv'), 'invoices\n');
    t.equal(await fitting('webhook', 'play', 'day', '--sp'), '--speed\n');
    t.equal(await fitting('company', 'erase', 'acme', '--vacuum', ''), 'now\nlater\n');
    t.equal(await fitting('apply', 'chan'), '');
    t.equal(await fitting('webhook', 'play', 'day', '--secret-file', '--'), '', 'a value of any kind');
  },
);

t.test('bash completes them, and leaves names of files to itself', async (t) => {
  const { stdout } = await callCommand(['completion', 'bash']);
  const complete = (line: string, at: number) =>
    `COMP_WORDS=(fieldledger ${line}); COMP_CWORD=${at}; _fieldledger; echo "\${COMPREPLY[@]}"`;
  const asked = [
    complete('webhook pl', 2),
    complete('company erase acme --vacuum ""', 5),
    complete('apply chan', 2),
  ];
  const shell = `${INSTALLED}${stdout}${asked.join('\n')}`;
  t.equal(spawnSync('bash', ['-c', shell], { encoding: 'utf8' }).stdout, 'play\nnow later\n\n');
});

t.test(
  'fish completes the same, says what each means, and names files elsewhere',
  { skip: !has('fish') },
  async (t) => {
    const cwd = t.testdir({ 'changes.jsonl': '' });
    const { stdout } = await callCommand(['completion', 'fish']);
    const installed = `function fieldledger; '${process.execPath}' '${program}' $argv; end`;
    const complete = (line: string) => {
      const shell = `${installed}\n${stdout}complete -C '${line}'`;
      return spawnSync('fish', ['-c', shell], { encoding: 'utf8', cwd }).stdout.trim();
    };
    t.equal(complete('fieldledger we'), "webhook\ta company's webhooks");
    t.match(complete('fieldledger webhook play day --sp'), /^--speed\thow many times faster [^\n]*$/);
    t.equal(complete('fieldledger apply chan'), 'changes.jsonl');
  },
);

t.test('zsh reads its completion', { skip: !has('zsh') }, async (t) => {
  const file = join(t.testdir({ zsh: (await callCommand(['completion', 'zsh'])).stdout }), 'zsh');
  const script = `autoload -U compinit; compinit -u -D; source ${file}`;
  const { status, stderr } = spawnSync('zsh', ['-c', script], { encoding: 'utf8' });
  t.strictSame({ status, stderr }, { status: 0, stderr: '' });
});
