import { setImmediate as turn } from 'node:timers/promises';

import { Command, CommanderError } from 'commander';

import { version } from '../contract/version.ts';
import { type Terminal, ReportedFailure } from './terminal.ts';

/** The exit code for a usage error; a command that fails exits with 1. */
const USAGE_EXIT_CODE = 2;

/** A program that consists of commands. */
export interface Program {
  description: string;
  /**
   * The commands by name, grouped as in the help. Each is loaded only when needed: loading all of them takes as long as most
   * commands take in total.
   */
  groups: Record<string, Record<string, () => Promise<(terminal: Terminal) => Command>>>;
  /** Example command lines, at most 80 columns wide; the help of each command shows its own. */
  examples: string;
}

/**
 * Runs one command line, and returns its exit code.
 * @param args the arguments after the program's name.
 * @returns the exit code: 0 for success, 1 for failure, 2 for a usage error.
 */
export async function runProgram(
  program: Program,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const exitCode = await runLine(program, args, terminal);
  // A failed write is only reported in the next turn of the event loop.
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
  // Read before the command is parsed, so that errors in its arguments use the right format.
  terminal.setJson(args.includes('--json'));
  try {
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof ReportedFailure) return 1;
    if (!(error instanceof CommanderError)) {
      terminal.fail(error);
      return 1;
    }
    if (error.exitCode === 0) return 0;
    terminal.refuse(error.code === 'commander.help' ? 'A command is missing.' : sentenceOf(error.message));
    return USAGE_EXIT_CODE;
  }
}

/** Returns the command that a command line names, or all commands if it names none. */
async function commandsFor(
  args: readonly string[],
  groups: Program['groups'],
  terminal: Terminal,
): Promise<Command[]> {
  const commands = Object.entries(groups).flatMap(([group, members]) =>
    Object.entries(members).map(([name, load]) => ({ group, name, load })),
  );
  const [first] = args;
  // With "completion SHELL", a shell passes the words of another command line, the last of them incomplete.
  const line = first === 'completion' && args.length > 2 ? args.slice(2, -1) : [first];
  const hasName = commands.some(({ name }) => line.includes(name));
  const named = commands.filter(({ name }) => !hasName || name === first || line.includes(name));
  return Promise.all(named.map(async ({ group, load }) => (await load())(terminal).helpGroup(group)));
}

/** Returns an error message from Commander, reworded in our own style. */
function sentenceOf(message: string): string {
  const [first = '', ...hints] = message
    .trim()
    .replace(/^error: /, '')
    .split('\n');
  const sentence = `${first.charAt(0).toUpperCase()}${first.slice(1)}${first.endsWith('.') ? '' : '.'}`;
  return [sentence, ...hints].join('\n');
}

/** Gives the program's options and error handling to a command and its subcommands at every depth. */
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

/** Returns a command's examples, such as those of `webhook create`. A continued line ends with a backslash. */
function examplesFor(words: string, examples: string): string {
  const name = new RegExp(`\\bfieldledger ${words}(?![-\\w])`);
  const all = examples.split(/(?<!\\)(?=\n)/);
  return all.filter((example) => name.test(example)).join('');
}
