import { Command, CommanderError } from 'commander';

import { examplesOf } from './server/cli/examples.ts';
import { createTerminal, type Terminal, ToldFailure } from './server/cli/terminal.ts';
import { version } from './version.ts';

/**
 * The commands, grouped as the help lists them. Each is loaded only when it is asked for: all of them together take as long
 * to load as most take in all.
 */
const GROUPS = {
  'For integrators ("webhook sample" and "webhook play" too):': {
    pull: async () => (await import('./server/cli/pull.ts')).pullCommand,
    export: async () => (await import('./server/cli/export.ts')).exportCommand,
    mcp: async () => (await import('./server/cli/mcp.ts')).mcpCommand,
  },
  'For operators, the service:': {
    serve: async () => (await import('./server/cli/serve.ts')).serveCommand,
    deliver: async () => (await import('./server/cli/deliver.ts')).deliverCommand,
    status: async () => (await import('./server/cli/status.ts')).statusCommand,
    config: async () => (await import('./server/cli/config.ts')).configCommand,
    demo: async () => (await import('./server/cli/demo.ts')).demoCommand,
  },
  'For operators, companies:': {
    company: async () => (await import('./server/cli/company.ts')).companyCommand,
    admin: async () => (await import('./server/cli/admin.ts')).adminCommand,
    key: async () => (await import('./server/cli/key.ts')).keyCommand,
    webhook: async () => (await import('./server/cli/webhook.ts')).webhookCommand,
    apply: async () => (await import('./server/cli/apply.ts')).applyCommand,
    numbering: async () => (await import('./server/cli/numbering.ts')).numberingCommand,
    document: async () => (await import('./server/cli/document.ts')).documentCommand,
  },
  'For operators, the store:': {
    migrate: async () => (await import('./server/cli/migrate.ts')).migrateCommand,
    backup: async () => (await import('./server/cli/backup.ts')).backupCommand,
    restore: async () => (await import('./server/cli/restore.ts')).restoreCommand,
    copy: async () => (await import('./server/cli/copy.ts')).copyCommand,
    verify: async () => (await import('./server/cli/verify.ts')).verifyCommand,
  },
  'Commands:': {
    completion: async () => (await import('./server/cli/completion.ts')).completionCommand,
  },
} satisfies Record<string, Record<string, () => Promise<(terminal: Terminal) => Command>>>;

/** A fault of the command exits with 1, a fault of its caller with 2. */
const USAGE_EXIT_CODE = 2;

/**
 * Runs one command line.
 * @param args what follows the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 not understood.
 */
export async function main(args: readonly string[], terminal: Terminal = createTerminal()): Promise<number> {
  const program = new Command('fieldledger')
    .description('A read-only JSON API over field-service and invoicing records')
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
  await addCommands(program, args, terminal);
  program.hook('preAction', (_program, action) => terminal.setJson(action.optsWithGlobals().json === true));
  // Known before the command is: an error in its arguments is told in the same way as its result.
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

/** Adds the command that a line names, or all of them where it names none. */
async function addCommands(program: Command, args: readonly string[], terminal: Terminal): Promise<void> {
  const commands = Object.entries(GROUPS).flatMap(([group, members]) =>
    Object.entries(members).map(([name, load]) => ({ group, name, load })),
  );
  const [first] = args;
  // A shell gives the words of another line to "completion SHELL", of which the last isn't whole yet.
  const line = first === 'completion' && args.length > 2 ? args.slice(2, -1) : [first];
  const hasName = commands.some(({ name }) => line.includes(name));
  const added = commands
    .filter(({ name }) => !hasName || name === first || line.includes(name))
    .map(async ({ group, load }) => (await load())(terminal).helpGroup(group));
  for (const command of await Promise.all(added)) program.addCommand(inherit(command, program));
  if (!hasName) program.addHelpText('after', '\nEach command explains itself: fieldledger COMMAND --help');
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
function inherit(command: Command, program: Command, path: readonly string[] = [program.name()]): Command {
  command.copyInheritedSettings(program);
  const words = [...path, command.name()];
  // The whole help would push the error out of sight.
  command.showHelpAfterError(`See "${words.join(' ')} --help".`);
  if (command.commands.length === 0) {
    command.option('--json', 'machine-readable output on standard output');
    const examples = examplesOf(words.slice(1).join(' '));
    if (examples) command.addHelpText('after', `\nExamples:${examples}`);
  }
  for (const child of command.commands) inherit(child, program, words);
  return command;
}
