import { setImmediate as turn } from 'node:timers/promises';

import { Command, CommanderError } from 'commander';

import { version } from '../contract/version.ts';
import { type Terminal, ToldFailure } from './terminal.ts';

/** The exit code for a command line that is wrong; a command that fails has 1. */
const USAGE_EXIT_CODE = 2;

/** A program with commands. */
export interface Program {
  description: string;
  /**
   * The commands, grouped as the help lists them. Each is loaded only when it is asked for: all of them together take as long
   * to load as most take in all.
   */
  groups: Record<string, Record<string, () => Promise<(terminal: Terminal) => Command>>>;
  /** Command lines that stand below the help of their commands, none longer than a screen of 80 columns. */
  examples: string;
}

/**
 * Runs one command line.
 * @param args what follows the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 not understood.
 */
export async function runProgram(
  program: Program,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const exitCode = await runLine(program, args, terminal);
  // A write that fails is known a turn later.
  await turn();
  const problem = terminal.outProblem();
  if (exitCode !== 0 || problem === undefined) return exitCode;
  terminal.tell(`fieldledger: ${problem}.\n`);
  return 1;
}

async function runLine(
  { description, groups, examples }: Program,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const program = new Command('fieldledger')
    .description(description)
    .version(version, '--version', 'print the version')
    .option('--json', 'machine-readable output on standard output')
    .showHelpAfterError('See "fieldledger --help".')
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: terminal.print,
      writeErr: terminal.tell,
      outputError: (message, write) => write(`fieldledger: ${sentenceOf(message)}\n`),
    });
  for (const command of await commandsFor(args, groups, terminal))
    program.addCommand(inherit(command, program, examples));
  program.hook('preAction', (_program, action) => terminal.setJson(action.optsWithGlobals().json === true));
  // Read before the command is parsed, so that errors in its arguments use the same format.
  terminal.setJson(args.includes('--json'));
  try {
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof ToldFailure) return 1;
    if (!(error instanceof CommanderError)) {
      terminal.fail(error);
      return 1;
    }
    if (error.exitCode === 0) return 0;
    terminal.refuse(error.code === 'commander.help' ? 'A command is missing.' : sentenceOf(error.message));
    return USAGE_EXIT_CODE;
  }
}

/** The command that a line names, or all of them where it names none. */
async function commandsFor(
  args: readonly string[],
  groups: Program['groups'],
  terminal: Terminal,
): Promise<Command[]> {
  const commands = Object.entries(groups).flatMap(([group, members]) =>
    Object.entries(members).map(([name, load]) => ({ group, name, load })),
  );
  const [first] = args;
  // A shell gives the words of another line to "completion SHELL", of which the last isn't whole yet.
  const line = first === 'completion' && args.length > 2 ? args.slice(2, -1) : [first];
  const hasName = commands.some(({ name }) => line.includes(name));
  const named = commands.filter(({ name }) => !hasName || name === first || line.includes(name));
  return Promise.all(named.map(async ({ group, load }) => (await load())(terminal).helpGroup(group)));
}

/** Commander's message of an error, as our own errors are written. */
function sentenceOf(message: string): string {
  const [first = '', ...hints] = message
    .trim()
    .replace(/^error: /, '')
    .split('\n');
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}${first.endsWith('.') ? '' : '.'}`;
  return [sentence, ...hints].join('\n');
}

/** Options and error handling of the program hold for its commands too, at every depth. */
function inherit(
  command: Command,
  program: Command,
  examples: string,
  path: readonly string[] = [program.name()],
): Command {
  command.copyInheritedSettings(program);
  const words = [...path, command.name()];
  // The whole help would scroll the error away.
  command.showHelpAfterError(`See "${words.join(' ')} --help".`);
  if (command.commands.length === 0) {
    command.option('--json', 'machine-readable output on standard output');
    const fitting = examplesFor(words.slice(1).join(' '), examples);
    if (fitting) command.addHelpText('after', `\nExamples:${fitting}`);
  }
  for (const child of command.commands) inherit(child, program, examples, words);
  return command;
}

/** The examples of a command such as `webhook create`, or nothing; a line that goes on ends with a backslash. */
function examplesFor(words: string, examples: string): string {
  const name = new RegExp(`\\bfieldledger ${words}(?![-\\w])`);
  const all = examples.split(/(?<!\\)(?=\n)/);
  return all.filter((example) => name.test(example)).join('');
}
