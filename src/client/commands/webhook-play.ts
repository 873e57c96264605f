import { Argument, Command, InvalidArgumentError } from 'commander';

import { newestOf, type PlayedDelivery, playDay } from '../webhooks/played-day.ts';
import { type Terminal, ReportedFailure } from '../../command-line/terminal.ts';
import { recordedDay } from '../webhooks/recorded-day.ts';
import { SECRET_FILE, serviceNameIn, signingSecret, TO_OPTION } from './webhook-sample.ts';

interface PlayCommandOptions {
  to: string;
  speed?: number;
  secretFile?: string;
}

/** `fieldledger webhook play day`: tests a webhook receiver in development. It needs no database. */
export function webhookPlayCommand(terminal: Terminal): Command {
  return new Command('play')
    .description('play a day of events, signed, to a receiver of your own, and say what it does wrong')
    .addArgument(new Argument('<story>', 'the story to play').choices(['day']))
    .requiredOption(...TO_OPTION)
    .option(
      '--speed <times>',
      'how many times faster than the clock; unless given, as fast as it answers',
      speedOf,
    )
    .option(...SECRET_FILE)
    .action(async (_story: string, { to, speed, secretFile }: PlayCommandOptions) => {
      const serviceName = serviceNameIn(terminal);
      const secret = signingSecret(secretFile);
      if (secretFile === undefined) terminal.tell(`Signed with the secret ${secret}\n\n`);
      const events = recordedDay(new Date());
      const onPlayed = (played: PlayedDelivery) => terminal.tell(`${lineOf(played)}\n`);
      const deliveries = await playDay(events, { to, serviceName, secret, speed, onPlayed });
      const problems = deliveries.flatMap(({ problem }) => problem ?? []);
      const newest = newestOf(events);
      terminal.show({ deliveries, problems, newest }, summaryOf(deliveries, problems, newest));
      if (problems.length > 0) throw new ReportedFailure();
    });
}

const SPEED_MAX = 1_000_000;

function speedOf(text: string): number {
  const speed = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || speed < 0.1 || speed > SPEED_MAX)
    throw new InvalidArgumentError(`It must be a number from 0.1 to ${SPEED_MAX}.`);
  return speed;
}

function lineOf({ kind, event, createdAt, status, milliseconds, attempts, problem }: PlayedDelivery): string {
  const note = kind === 'delivery' ? '' : `  ${kind}`;
  const times = attempts === 1 ? '' : `  sent ${attempts} times`;
  const result = `${status ?? '---'}  ${String(milliseconds).padStart(5)} ms`;
  return `${problem ? '✗' : '✓'} ${createdAt.slice(11, 16)}  ${event.padEnd(18)}  ${result}${note}${times}`;
}

function summaryOf(
  deliveries: readonly PlayedDelivery[],
  problems: readonly string[],
  newest: ReturnType<typeof newestOf>,
): string {
  const slowest = Math.max(...deliveries.map(({ milliseconds }) => milliseconds));
  const count = `${deliveries.length} requests were sent; the slowest was answered after ${slowest} ms.`;
  if (problems.length > 0)
    return [
      '',
      count,
      '',
      'The receiver isn’t working correctly yet:',
      ...problems.map((problem) => `- ${problem}`),
    ].join('\n');
  const again = deliveries.filter(({ kind }) => kind === 'duplicate');
  const known = newest.map(({ event, record, at }) => `  ${event.padEnd(18)}  ${at}  ${record}`);
  return [
    '',
    `${count} The receiver answered all of them right.`,
    '',
    'Answers don’t show what it did:',
    ...again.map(({ event, id }) => `- ${event} came twice, as ${id}: it must have had its effect once.`),
    '- Forgeries and the old state must have had none.',
    '',
    'It must now hold, as the newest of each record:',
    ...known,
  ].join('\n');
}
