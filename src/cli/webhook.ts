import { Command } from 'commander';

import { moveEventKinds } from '../contract/events.ts';
import type { Webhook } from '../store/webhooks.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  pauseWebhook,
  resumeWebhook,
} from '../webhooks/registration.ts';
import { openSecretBox, sealSecrets, takeSecretBox } from '../webhooks/secret-key.ts';
import { withDatabase } from './database.ts';
import { type Terminal, ToldFailure } from './terminal.ts';
import { webhookDeliveryCommands } from './webhook-deliveries.ts';
import { webhookSampleCommand } from './webhook-sample.ts';

/** `fieldledger webhook create|list|pause|resume|delete|deliveries|resend|recover|ping|sample|seal`. */
export function webhookCommand(terminal: Terminal): Command {
  const command = new Command('webhook')
    .description("a company's webhooks")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(pauseCommand(terminal))
    .addCommand(resumeCommand(terminal))
    .addCommand(deleteCommand(terminal));
  for (const child of webhookDeliveryCommands(terminal)) command.addCommand(child);
  return command.addCommand(webhookSampleCommand(terminal)).addCommand(sealCommand(terminal));
}

function createCommand(terminal: Terminal): Command {
  return new Command('create')
    .description('register a webhook and show its signing secret, once')
    .argument('<company>', 'id of the company')
    .argument('<url>', 'https address on a public host name, port 443')
    .option('--events <events>', `comma-separated, of ${moveEventKinds.join(', ')}`, listOf, [
      ...moveEventKinds,
    ] as string[])
    .action(async (company: string, url: string, { events }: { events: string[] }) => {
      await withDatabase(terminal, async (engine, config) => {
        const options = { company, url, events, now: new Date() };
        const box = await openSecretBox(engine, config);
        const { secret, record } = await createWebhook(engine, box, options);
        terminal.tell(
          `Registered ${record.id}. Keep its signing secret in a secret store; it is shown only now.\n`,
        );
        terminal.show({ secret, ...record }, secret);
      });
    });
}

function listCommand(terminal: Terminal): Command {
  return new Command('list')
    .description('list the webhooks, without their secrets')
    .argument('<company>', 'id of the company')
    .action(async (company: string) => {
      await withDatabase(terminal, async (engine) => {
        const webhooks = await listWebhooks(engine, company);
        const prose = webhooks.map(webhookLine).join('\n');
        terminal.show(webhooks, prose || 'There are no webhooks.');
      });
    });
}

function pauseCommand(terminal: Terminal): Command {
  return new Command('pause')
    .description('let the deliveries of a webhook wait, 30 days at most, until it is resumed')
    .argument('<company>', 'id of the company')
    .argument('<webhook-id>', 'id of the webhook')
    .action(async (company: string, id: string) => {
      await withDatabase(terminal, async (engine) => {
        const webhook = await pauseWebhook(engine, company, id, new Date());
        terminal.show(webhook, `${webhook.id} (${webhook.url}) is paused since ${webhook.pausedAt}.`);
      });
    });
}

function resumeCommand(terminal: Terminal): Command {
  return new Command('resume')
    .description('deliver to a paused webhook again, beginning with what waits')
    .argument('<company>', 'id of the company')
    .argument('<webhook-id>', 'id of the webhook')
    .action(async (company: string, id: string) => {
      await withDatabase(terminal, async (engine) => {
        const webhook = await resumeWebhook(engine, company, id, new Date());
        terminal.show(webhook, `${webhook.id} (${webhook.url}) is not paused.`);
      });
    });
}

function deleteCommand(terminal: Terminal): Command {
  return new Command('delete')
    .description('delete a webhook and what waits to be delivered to it')
    .argument('<company>', 'id of the company')
    .argument('<webhook-id>', 'id of the webhook')
    .action(async (company: string, id: string) => {
      await withDatabase(terminal, async (engine) => {
        const webhook = await deleteWebhook(engine, company, id, new Date());
        terminal.show(webhook, `Deleted ${webhook.id} (${webhook.url}).`);
      });
    });
}

function sealCommand(terminal: Terminal): Command {
  return new Command('seal')
    .description('encrypt every stored signing secret with the key that is set now')
    .action(async () => {
      await withDatabase(terminal, async (engine, config) => {
        const outcome = await sealSecrets(engine, await takeSecretBox(engine, config));
        const { sealedCount, problems } = outcome;
        const count = sealedCount === 1 ? '1 secret is' : `${sealedCount} secrets are`;
        terminal.show(outcome, `${count} encrypted with the key that is set now.`);
        for (const problem of problems) terminal.tell(`fieldledger: ${problem}\n`);
        if (problems.length > 0) throw new ToldFailure();
      });
    });
}

function listOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function webhookLine({ id, url, events, createdAt, pausedAt }: Webhook): string {
  const paused = pausedAt === null ? '' : `  paused since ${pausedAt}`;
  return `${id}  created ${createdAt}  ${events.join(',')}  ${url}${paused}`;
}
