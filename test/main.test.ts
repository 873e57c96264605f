import t from 'tap';

import { createTerminal } from '../src/command-line/terminal.ts';
import { examples as allExamples, main } from '../src/main.ts';
import { callCommand, openWorkplace } from './_command.ts';

const command = (...args: string[]) => callCommand(args);

/** The help of a command and of all below it, by their words. */
async function helpsBelow(words: readonly string[] = []): Promise<[words: string, help: string][]> {
  const { exitCode, stdout, stderr } = await command(...words, '--help');
  if (exitCode !== 0 || stderr !== '') throw new Error(`${words.join(' ')} --help: ${stderr}`);
  // The lists of commands follow the options, or the sentence that says what a command is.
  const listed = stdout.split('\n\n').filter((part) => /^(?:For|Commands)[^\n]*:\n/.test(part));
  const names = [...listed.join('\n').matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name ?? '');
  const below = await Promise.all(
    names.filter((name) => name !== 'help').map((name) => helpsBelow([...words, name])),
  );
  return [...(words.length > 0 ? [[words.join(' '), stdout] as [string, string]] : []), ...below.flat()];
}

const helps = new Map(await helpsBelow());

/** Every command, with those below it, in the order of the help. */
const COMMANDS = `
pull export mcp serve deliver status config demo
company: create set list changes export erase
admin: create list set disable reset sign-out remove-second-factor
key: create list revoke
webhook: create list change pause resume delete deliveries resend recover ping seal sample play
feed-token: create list revoke
portal-link apply
numbering: show set
document: pdf statement xml check hand-over
migrate backup restore copy verify completion`;

t.test('the help leads to every command', async (t) => {
  const all = COMMANDS.trim()
    .split('\n')
    .flatMap((line) => {
      const [names = '', below] = line.split(': ');
      return below ? [names, ...below.split(' ').map((word) => `${names} ${word}`)] : names.split(' ');
    });
  t.strictSame([...helps.keys()], all);
});

t.test('every command explains itself, in lines that a screen is wide enough for', async (t) => {
  const groups = [...COMMANDS.matchAll(/^(.+):/gm)].map(([, name]) => name);
  for (const [words, help] of helps) {
    const [usage, , purpose = ''] = help.split('\n');
    t.match(usage, new RegExp(`^Usage: fieldledger ${words} `));
    t.match(purpose, /^[a-z].{10,}/, `${words} says what it does`);
    t.match(help, groups.includes(words) ? '\nCommands:\n' : /^ {2}--json /m, words);
    const [text = ''] = help.split('\nExamples:\n');
    const tooLong = text.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '));
    t.strictSame(tooLong, [], words);
  }
});

t.test('every example stands below the help of its command, which has its options', async (t) => {
  let shownCount = 0;
  for (const [words, text] of helps) {
    const [help = '', examples = ''] = text.split('\nExamples:\n');
    if (examples !== '') t.match(examples, `fieldledger ${words}`);
    for (const [option] of examples.matchAll(/ --[a-z-]+/g)) t.match(help, `${option} `, examples);
    shownCount += examples.match(/fieldledger (?=[a-z])/g)?.length ?? 0;
  }
  t.equal(shownCount, allExamples.match(/fieldledger (?=[a-z])/g)?.length);
});

t.test('help is the same however it is asked for', async (t) => {
  t.strictSame(await command('help', 'demo'), await command('demo', '--help'));
  t.strictSame(await command('-h'), await command('--help'));
  t.equal((await command('--help', '--json')).exitCode, 0);
});

/** Command lines that aren't understood, each with what its error names. */
const invalid = (option: string, given: string, rule: string) =>
  `Option '${option}' argument '${given}' is invalid. ${rule}`;
const MISTAKES: [string[], string][] = [
  [[], 'A command is missing.'],
  [['company'], 'A command is missing.'],
  [['serv'], "Unknown command 'serv'.\n(Did you mean serve?)"],
  [['company', 'remove', 'acme'], "Unknown command 'remove'."],
  [['config', '--colour'], "Unknown option '--colour'."],
  [['config', 'PORT'], "Too many arguments for 'config'. Expected 0 arguments but got 1: PORT."],
  [['company', 'create'], "Missing required argument 'id'."],
  [['key', 'revoke', 'acme'], "Missing required argument 'key-id'."],
  [['key', 'create', 'acme', '--name'], "Option '--name <name>' argument missing."],
  [['company', 'set', 'acme', '--api', 'yes'], invalid('--api [on|off]', 'yes', 'It must be on or off.')],
  ...['1e3', '0'].map((count): [string[], string] => [
    ['demo', '--records', count],
    invalid('--records <number>', count, 'It must be an integer from 1 to 10000000.'),
  ]),
  [
    ['apply', '/nowhere.jsonl'],
    "Command-argument value '/nowhere.jsonl' is invalid for argument 'file'. There is no file /nowhere.jsonl.",
  ],
  [['apply', '/'], "Command-argument value '/' is invalid for argument 'file'. It is a folder."],
  [
    ['apply', '-', 'feed.jsonl'],
    "Too many arguments for 'apply'. Expected 1 argument but got 2: -, feed.jsonl.",
  ],
  [
    ['apply', '--to', 'feed.example.com'],
    invalid(
      '--to <url>',
      'feed.example.com',
      'It must be an http or https address without path, or with /api/v1, and without query or credentials.',
    ),
  ],
  ...[
    ['/nowhere.png', 'There is no file /nowhere.png.'],
    ['/', 'There is no file /.'],
    [import.meta.filename, "Documents can't show it: it is neither a PNG nor a JPEG picture."],
  ].map(([file = '', rule = '']): [string[], string] => [
    ['company', 'create', 'acme', '--logo', file],
    invalid('--logo <file>', file, rule),
  ]),
];

t.test('a command line that is not understood exits with 2, and says where the help is', async (t) => {
  for (const [args, message] of MISTAKES) {
    const { exitCode, stdout, stderr } = await command(...args);
    t.strictSame({ exitCode, stdout }, { exitCode: 2, stdout: '' }, args.join(' '));
    if (message === 'A command is missing.') t.match(stderr, 'Usage: fieldledger', args.join(' '));
    else {
      t.ok(stderr.startsWith(`fieldledger: ${message}\nSee "fieldledger `), stderr);
      t.match(stderr, / --help"\.\n$/);
    }
    // With --json the error is one JSON value as well.
    const json = `${JSON.stringify({ error: { message } })}\n`;
    t.match(await command('--json', ...args), { exitCode: 2, stdout: json, stderr: 'fieldledger' });
  }
});

t.test('--json means the same before and after the command', async (t) => {
  const before = await command('--json', 'config');
  t.strictSame(before, await command('config', '--json'));
  t.type(JSON.parse(before.stdout), Array);
});

t.test('a fault of the program itself shows its stack and exits with 1', async (t) => {
  const terminal = createTerminal(
    {},
    () => {
      throw new Error('The screen is broken.');
    },
    (text) => t.match(text, /^fieldledger: Error: The screen is broken\.\n +at /),
  );
  t.equal(await main(['config'], terminal), 1);
});

t.test('the process ends with the exit code, and keeps stdout for results', async (t) => {
  await using workplace = await openWorkplace();
  const [good, failed, misunderstood] = await Promise.all([
    workplace.run(['config']),
    workplace.run(['status', '--json'], { PORT: 'x' }),
    workplace.run(['nonsense', '--json']),
  ]);
  t.equal(good.exitCode, 0);
  t.match(good.stdout, /^HOST=127\.0\.0\.1 {2}\(default\)\n/);
  t.equal(good.stderr, '');
  const message = 'The configuration is wrong:\n  PORT must be an integer from 0 to 65535, not "x".';
  t.strictSame(failed, {
    exitCode: 1,
    stdout: `${JSON.stringify({ error: { message } })}\n`,
    stderr: `fieldledger: ${message}\n`,
  });
  t.equal(misunderstood.exitCode, 2);
  t.strictSame(JSON.parse(misunderstood.stdout), { error: { message: "Unknown command 'nonsense'." } });
});

t.test('a pipe that is closed early is no failure', async (t) => {
  await using workplace = await openWorkplace();
  const listing = workplace.start(['config']);
  listing.child.stdout?.destroy();
  t.strictSame(await listing.ended, { exitCode: 0, signal: null });
  t.equal(listing.output.stderr, '');
});
