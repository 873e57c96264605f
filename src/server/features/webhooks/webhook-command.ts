import { type Command, InvalidArgumentError } from 'commander';

import { listOf } from '../../../command-line/given-values.ts';
import { subscribableKinds } from '../../../contract/events.ts';
import { quote, UsageError } from '../../../errors.ts';
import type { DeliveryRecord } from './deliveries/delivery-details.ts';
import type { KeptAttempt } from './deliveries/results.ts';
import type { Webhook } from './stored-webhooks.ts';
import { listDeliveries, PAGE_MAX, ping, recover, resend } from './deliveries/deliveries.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  pauseWebhook,
  resumeWebhook,
} from './registration.ts';
import { listUnreadable, openSecretBox, sealSecrets, takeSecretBox } from './secret-key.ts';
import { COMPANY, integerIn } from '../../cli/arguments.ts';
import { DatabaseCommand } from '../../cli/database-command.ts';
import { withDatabase } from '../../cli/database.ts';
import { type Columns, textTable } from '../../cli/table.ts';
import { type Terminal, ReportedFailure } from '../../../command-line/terminal.ts';

const WEBHOOK = ['<webhook-id>', 'id of the webhook'] as const;

/** Builds `fieldledger webhook create|list|change|pause|resume|delete|deliveries|resend|recover|ping|seal`. */
export function webhookCommand(terminal: Terminal): Command {
  return new DatabaseCommand('webhook', terminal)
    .description("a company's webhooks")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(changeCommand(terminal))
    .addCommand(pauseCommand(terminal))
    .addCommand(resumeCommand(terminal))
    .addCommand(deleteCommand(terminal))
    .addCommand(deliveriesCommand(terminal))
    .addCommand(resendCommand(terminal))
    .addCommand(recoverCommand(terminal))
    .addCommand(pingCommand(terminal))
    .addCommand(sealCommand(terminal));
}

/** Builds a subcommand that takes the ids of a company and one of its webhooks. */
function ofWebhook(name: string, terminal: Terminal): DatabaseCommand {
  return new DatabaseCommand(name, terminal).argument(...COMPANY).argument(...WEBHOOK);
}

function createCommand(terminal: Terminal): Command {
  return new DatabaseCommand('create', terminal)
    .description('register a webhook and show its signing secret, once')
    .argument(...COMPANY)
    .argument('<url>', 'https address on a public host name, port 443')
    .option(...EVENTS, eventsOf, [...subscribableKinds] as string[])
    .option(...DESCRIPTION)
    .inDatabase(async ({ engine, config }, company: string, url: string, chosen: Changed) => {
      const options = { company, url, events: subscribableKinds, ...chosen, now: new Date() };
      const box = await openSecretBox(engine, config);
      const { secret, record } = await createWebhook(engine, box, options);
      terminal.tell(
        `Registered ${record.id}. Keep its signing secret in a secret store: it won't be shown again.\n`,
      );
      terminal.show({ secret, ...record }, secret);
    });
}

const EVENTS = ['--events <events>', `comma-separated, of ${subscribableKinds.join(', ')}, or all`] as const;
const DESCRIPTION = ['--description <text>', 'a few words to tell it from other webhooks'] as const;

interface Changed {
  events?: string[];
  description?: string;
}

const eventsOf = (text: string): string[] => (text === 'all' ? [...subscribableKinds] : listOf(text));

function changeCommand(terminal: Terminal): Command {
  return ofWebhook('change', terminal)
    .description('change the events or the description of a webhook')
    .option(...EVENTS, eventsOf)
    .option(...DESCRIPTION)
    .inDatabase(async ({ engine }, company: string, id: string, given: Changed) => {
      if (Object.keys(given).length === 0) throw new UsageError('Give --events, --description or both.');
      const changed = await changeWebhook(engine, { company, id, ...given, by: 'operator', now: new Date() });
      terminal.show(changed, textTable([changed], columns, ''));
    });
}

function listCommand(terminal: Terminal): Command {
  return new DatabaseCommand('list', terminal)
    .description('list the webhooks, without their secrets')
    .argument(...COMPANY)
    .inDatabase(async ({ engine }, company: string) => {
      const webhooks = await listWebhooks(engine, company);
      terminal.show(webhooks, textTable(webhooks, columns, 'No webhooks.'));
    });
}

function pauseCommand(terminal: Terminal): Command {
  return ofWebhook('pause', terminal)
    .description('pause a webhook: its deliveries wait until it is resumed, for up to 30 days')
    .inDatabase(async ({ engine }, company: string, webhook: string) => {
      const paused = await pauseWebhook(engine, company, webhook, new Date());
      terminal.show(paused, `${paused.id} (${paused.url}) has been paused since ${paused.pausedAt}.`);
    });
}

function resumeCommand(terminal: Terminal): Command {
  return ofWebhook('resume', terminal)
    .description('resume a paused webhook, and send what waited')
    .inDatabase(async ({ engine }, company: string, webhook: string) => {
      const resumed = await resumeWebhook(engine, company, webhook, new Date());
      terminal.show(resumed, `${resumed.id} (${resumed.url}) is resumed.`);
    });
}

interface Deletion {
  unreadable?: boolean;
  confirm?: string;
}

function deleteCommand(terminal: Terminal): Command {
  return new DatabaseCommand('delete', terminal)
    .description('delete a webhook, its history and its waiting deliveries, for good')
    .argument('[company]', COMPANY[1])
    .argument('[webhook-id]', WEBHOOK[1])
    .option('--confirm <webhook-id>', 'the id again, to confirm')
    .option('--unreadable', 'delete every webhook whose signing secret can no longer be decrypted')
    .action(async (...given: [string | undefined, string | undefined, Deletion, Command]) => {
      const [company = '', id = '', { unreadable = false, confirm }, command] = given;
      if ((company === '' || id === '') !== unreadable)
        command.error('error: name a company and a webhook, or give only --unreadable');
      if (confirm === undefined) {
        if (!unreadable) command.error('error: give --confirm with the id again');
      } else if (confirm !== id)
        throw new UsageError(`--confirm is ${quote(confirm)}, and the webhook is ${quote(id)}.`);
      await withDatabase(terminal, async (engine, config) => {
        const meant = unreadable
          ? await listUnreadable(engine, await takeSecretBox(engine, config))
          : [{ company, id }];
        const deleted: Webhook[] = [];
        for (const one of meant) deleted.push(await deleteWebhook(engine, one.company, one.id, new Date()));
        const lines = deleted.map(
          (one) => `Deleted ${one.id} (${one.url})${unreadable ? ` of ${one.company}` : ''}.`,
        );
        terminal.show(
          unreadable ? deleted : deleted[0],
          lines.join('\n') || 'Every secret can be decrypted.',
        );
      });
    });
}

interface ListOptions {
  limit: number;
  before?: string;
}

function deliveriesCommand(terminal: Terminal): Command {
  return ofWebhook('deliveries', terminal)
    .description('list the deliveries of a webhook with every attempt, the newest first')
    .option('--limit <count>', `how many, 1 to ${PAGE_MAX}`, integerIn(1, PAGE_MAX), 20)
    .option('--before <delivery-id>', 'continue after the last one shown')
    .inDatabase(async ({ engine }, company: string, webhook: string, options: ListOptions) => {
      const page = await listDeliveries(engine, { company, webhook }, options);
      const lines = page.deliveries.flatMap(deliveryLines);
      if (page.nextBefore !== null) lines.push(`More with --before ${page.nextBefore}`);
      terminal.show(page, lines.join('\n') || 'No deliveries.');
    });
}

function resendCommand(terminal: Terminal): Command {
  return ofWebhook('resend', terminal)
    .description('send a delivery again, with the same id and body')
    .argument('<delivery-id>', 'id of the delivery')
    .inDatabase(async ({ engine }, company: string, webhook: string, id: string) => {
      await resend(engine, { company, webhook, id }, new Date());
      terminal.show({ id }, `${id} is being sent again.`);
    });
}

function recoverCommand(terminal: Terminal): Command {
  return ofWebhook('recover', terminal)
    .description('send again all deliveries that failed or were held since a time')
    .requiredOption('--since <time>', 'such as 2026-11-20T12:00:00Z, within the last 30 days', timeOf)
    .inDatabase(async ({ engine }, company: string, webhook: string, { since }: { since: Date }) => {
      const count = await recover(engine, { company, webhook }, { from: since }, new Date());
      terminal.show(
        { count },
        `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} being sent again.`,
      );
    });
}

function pingCommand(terminal: Terminal): Command {
  return ofWebhook('ping', terminal)
    .description('send a webhook a signed ping, or an example of one of its events')
    .option('--event <event>', 'the event', 'ping')
    .inDatabase(async ({ engine }, company: string, webhook: string, { event }: { event: string }) => {
      const id = await ping(engine, { company, webhook }, { event, now: new Date() });
      terminal.show({ id }, `${id} is waiting to be sent; "webhook deliveries" shows its result.`);
    });
}

function sealCommand(terminal: Terminal): Command {
  return new DatabaseCommand('seal', terminal)
    .description('encrypt every stored signing secret and second factor with the key that is set now')
    .inDatabase(async ({ engine, config }) => {
      const outcome = await sealSecrets(engine, await takeSecretBox(engine, config));
      const { sealedCount, problems } = outcome;
      const count = sealedCount === 1 ? '1 secret is' : `${sealedCount} secrets are`;
      terminal.show(outcome, `${count} encrypted with the key that is set now.`);
      for (const problem of problems) terminal.tell(`fieldledger: ${problem}\n`);
      if (problems.length > 0) throw new ReportedFailure();
    });
}

/** Parses a time in RFC 3339 form with an offset, as in the API. */
function timeOf(text: string): Date {
  const time = new Date(text);
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  if (day === undefined || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('It must be a time with an offset, such as 2026-11-20T12:00:00Z.');
  // JavaScript reads 31 November as 1 December.
  if (new Date(day).toISOString().slice(0, 10) !== day)
    throw new InvalidArgumentError(`There is no ${day} in the calendar.`);
  return time;
}

const columns: Columns<Webhook> = {
  id: ({ id }) => id,
  created: ({ createdAt }) => createdAt,
  paused: ({ pausedAt }) => (pausedAt === null ? '' : `since ${pausedAt}`),
  address: ({ url }) => url,
  events: ({ events }) => (events.length === subscribableKinds.length ? 'all' : events.join(',')),
  description: ({ description }) => description,
};

const EVENT_COLUMNS = Math.max(...subscribableKinds.map((kind) => kind.length));

function deliveryLines(delivery: DeliveryRecord): string[] {
  const { id, event, createdAt, state, withheldFor, nextAttemptAt, attempts } = delivery;
  const next = nextAttemptAt === null ? '' : `  next ${nextAttemptAt}`;
  const reason = withheldFor === null ? '' : ` (${withheldFor})`;
  return [
    `${id}  ${event.padEnd(EVENT_COLUMNS)}  ${createdAt}  ${state}${reason}${next}`,
    ...attempts.map(attemptLine),
  ];
}

function attemptLine({ number, attemptedAt, status, error, phases, totalMs }: KeptAttempt): string {
  const shown = Object.entries(phases).flatMap(([name, ms]) => (ms === null ? [] : `${name} ${ms}`));
  const times = shown.length > 0 ? ` (${shown.join(', ')})` : '';
  return `  ${number}.  ${attemptedAt}  ${status ?? error}  ${totalMs} ms${times}`;
}
