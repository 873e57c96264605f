import { Command, CommanderError } from 'commander';

import { createTerminal, type Terminal, ToldFailure } from './cli/terminal.ts';
import { version } from './version.ts';

/** Each is loaded only when it is asked for: all of them together take as long to load as most take in all. */
const COMMANDS = {
  serve: async () => (await import('./cli/serve.ts')).serveCommand,
  deliver: async () => (await import('./cli/deliver.ts')).deliverCommand,
  migrate: async () => (await import('./cli/migrate.ts')).migrateCommand,
  company: async () => (await import('./cli/company.ts')).companyCommand,
  admin: async () => (await import('./cli/admin.ts')).adminCommand,
  key: async () => (await import('./cli/key.ts')).keyCommand,
  webhook: async () => (await import('./cli/webhook.ts')).webhookCommand,
  apply: async () => (await import('./cli/apply.ts')).applyCommand,
  numbering: async () => (await import('./cli/numbering.ts')).numberingCommand,
  document: async () => (await import('./cli/document.ts')).documentCommand,
  backup: async () => (await import('./cli/backup.ts')).backupCommand,
  restore: async () => (await import('./cli/restore.ts')).restoreCommand,
  copy: async () => (await import('./cli/copy.ts')).copyCommand,
  verify: async () => (await import('./cli/verify.ts')).verifyCommand,
  pull: async () => (await import('./cli/pull.ts')).pullCommand,
  export: async () => (await import('./cli/export.ts')).exportCommand,
  mcp: async () => (await import('./cli/mcp.ts')).mcpCommand,
  demo: async () => (await import('./cli/demo.ts')).demoCommand,
  config: async () => (await import('./cli/config.ts')).configCommand,
};

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
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({ writeOut: terminal.print, writeErr: terminal.tell });
  // Without a command all of them are listed.
  const [asked = ''] = args;
  const loads = Object.hasOwn(COMMANDS, asked)
    ? [COMMANDS[asked as keyof typeof COMMANDS]]
    : Object.values(COMMANDS);
  for (const command of await Promise.all(loads.map((load) => load())))
    program.addCommand(inherit(command(terminal), program));
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
    terminal.refuse(error.code === 'commander.help' ? 'A command is missing.' : error.message);
    return USAGE_EXIT_CODE;
  }
}

/** Options and error handling of the program hold for its commands too, at every depth. */
function inherit(command: Command, program: Command): Command {
  command.copyInheritedSettings(program);
  if (command.commands.length === 0) command.option('--json', 'machine-readable output on standard output');
  for (const child of command.commands) inherit(child, program);
  return command;
}
