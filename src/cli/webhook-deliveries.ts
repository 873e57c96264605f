import { Command, InvalidArgumentError } from 'commander';

import type { DeliveryRecord } from '../store/deliveries-history.ts';
import type { KeptAttempt } from '../store/deliveries-results.ts';
import { listDeliveries, PAGE_MAX, ping, recover, resend } from '../webhooks/deliveries.ts';
import { withDatabase } from './database.ts';
import type { Terminal } from './terminal.ts';

const WEBHOOK = ['<webhook-id>', 'id of the webhook'] as const;
const COMPANY = ['<company>', 'id of the company'] as const;

/** `fieldledger webhook deliveries|resend|recover|ping`. */
export function webhookDeliveryCommands(terminal: Terminal): Command[] {
  return [listCommand(terminal), resendCommand(terminal), recoverCommand(terminal), pingCommand(terminal)];
}

function listCommand(terminal: Terminal): Command {
  return new Command('deliveries')
    .description('list the deliveries of a webhook with every attempt, the newest first')
    .argument(...COMPANY)
    .argument(...WEBHOOK)
    .option('--limit <count>', `how many, 1 to ${PAGE_MAX}`, limitOf, 20)
    .option('--before <delivery-id>', 'go on before the last one that was shown')
    .action(async (company: string, webhook: string, options: { limit: number; before?: string }) => {
      await withDatabase(terminal, async (engine) => {
        const page = await listDeliveries(engine, { company, webhook }, options);
        const lines = page.deliveries.flatMap(deliveryLines);
        if (page.nextBefore !== null) lines.push(`More with --before ${page.nextBefore}`);
        terminal.show(page, lines.join('\n') || 'There are no deliveries.');
      });
    });
}

function resendCommand(terminal: Terminal): Command {
  return new Command('resend')
    .description('send a delivery again, with the same id and body')
    .argument(...COMPANY)
    .argument(...WEBHOOK)
    .argument('<delivery-id>', 'id of the delivery')
    .action(async (company: string, webhook: string, id: string) => {
      await withDatabase(terminal, async (engine) => {
        await resend(engine, { company, webhook, id }, new Date());
        terminal.show({ id }, `${id} is sent again.`);
      });
    });
}

function recoverCommand(terminal: Terminal): Command {
  return new Command('recover')
    .description('send everything again that failed or was withheld since a time')
    .argument(...COMPANY)
    .argument(...WEBHOOK)
    .requiredOption('--since <time>', 'such as 2026-11-20T12:00:00Z, within the last 30 days', timeOf)
    .action(async (company: string, webhook: string, { since }: { since: Date }) => {
      await withDatabase(terminal, async (engine) => {
        const count = await recover(engine, { company, webhook }, since, new Date());
        terminal.show({ count }, `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} sent again.`);
      });
    });
}

function pingCommand(terminal: Terminal): Command {
  return new Command('ping')
    .description('send a signed ping to a webhook')
    .argument(...COMPANY)
    .argument(...WEBHOOK)
    .action(async (company: string, webhook: string) => {
      await withDatabase(terminal, async (engine) => {
        const id = await ping(engine, { company, webhook }, { now: new Date() });
        terminal.show({ id }, `${id} waits to be sent; webhook deliveries shows how it goes.`);
      });
    });
}

function limitOf(text: string): number {
  const limit = Number(text);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= PAGE_MAX))
    throw new InvalidArgumentError(`It must be an integer from 1 to ${PAGE_MAX}.`);
  return limit;
}

/** RFC 3339 with an offset, as in the API. */
function timeOf(text: string): Date {
  const time = new Date(text);
  const [, day] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  if (day === undefined || Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('It must be a time with an offset, such as 2026-11-20T12:00:00Z.');
  // A day beyond the end of its month would pass for one of the next.
  if (new Date(day).toISOString().slice(0, 10) !== day)
    throw new InvalidArgumentError(`There is no ${day} in the calendar.`);
  return time;
}

function deliveryLines({
  id,
  event,
  createdAt,
  state,
  withheldFor,
  attempts,
  ...record
}: DeliveryRecord): string[] {
  const next = record.nextAttemptAt === null ? '' : `  next ${record.nextAttemptAt}`;
  const reason = withheldFor === null ? '' : ` (${withheldFor})`;
  return [`${id}  ${event}  ${createdAt}  ${state}${reason}${next}`, ...attempts.map(attemptLine)];
}

function attemptLine({ number, attemptedAt, status, error, phases, totalMs }: KeptAttempt): string {
  const shown = Object.entries(phases).flatMap(([name, ms]) => (ms === null ? [] : `${name} ${ms}`));
  const times = shown.length > 0 ? ` (${shown.join(', ')})` : '';
  return `  ${number}.  ${attemptedAt}  ${status ?? error}  ${totalMs} ms${times}`;
}
