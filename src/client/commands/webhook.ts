import { Command } from 'commander';

import type { Terminal } from '../../command-line/terminal.ts';
import { webhookPlayCommand } from './webhook-play.ts';
import { webhookSampleCommand } from './webhook-sample.ts';

/** `fieldledger webhook sample|play`: the commands that test a webhook receiver in development. */
export function webhookTools(terminal: Terminal): Command {
  const command = new Command('webhook').description('try a receiver of webhooks');
  for (const added of receiverCommands(terminal)) command.addCommand(added);
  return command;
}

/** Returns the subcommands of `webhook` that need no server. */
export function receiverCommands(terminal: Terminal): Command[] {
  return [webhookSampleCommand(terminal), webhookPlayCommand(terminal)];
}
