import { Command, CommanderError } from 'commander';

import { adminCommand } from './cli/admin.ts';
import { applyCommand } from './cli/apply.ts';
import { companyCommand } from './cli/company.ts';
import { configCommand } from './cli/config.ts';
import { deliverCommand } from './cli/deliver.ts';
import { demoCommand } from './cli/demo.ts';
import { documentCommand } from './cli/document.ts';
import { keyCommand } from './cli/key.ts';
import { migrateCommand } from './cli/migrate.ts';
import { createTerminal, type Terminal, ToldFailure } from './cli/terminal.ts';
import { numberingCommand } from './cli/numbering.ts';
import { serveCommand } from './cli/serve.ts';
import { webhookCommand } from './cli/webhook.ts';

/** What a command did wrong (1) and what its caller did wrong (2) have exit codes of their own. */
const USAGE_EXIT_CODE = 2;

/**
 * Runs one command line.
 * @param args what follows the program's name.
 * @returns the exit code: 0 done, 1 failed, 2 not understood.
 */
export async function main(args: readonly string[], terminal: Terminal = createTerminal()): Promise<number> {
  const program = new Command('fieldledger')
    .description('A read-only JSON API over field-service and invoicing records')
    .option('--json', 'machine-readable output on standard output')
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({ writeOut: terminal.print, writeErr: terminal.tell });
  for (const command of [
    serveCommand,
    deliverCommand,
    migrateCommand,
    companyCommand,
    adminCommand,
    keyCommand,
    webhookCommand,
    applyCommand,
    numberingCommand,
    documentCommand,
    demoCommand,
    configCommand,
  ]) {
    program.addCommand(inherit(command(terminal), program));
  }
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
