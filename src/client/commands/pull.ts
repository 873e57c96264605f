import { statSync } from 'node:fs';
import { dirname } from 'node:path';

import { Command } from 'commander';

import { type Resource, resources } from '../sync/sink.ts';
import { openSqliteCopy } from '../sync/sqlite.ts';
import { sync, type SyncProgress, type SyncResult } from '../sync/sync.ts';
import { quote, UsageError } from '../../errors.ts';
import { openService, type Service } from './service.ts';
import { type ServiceOptions, withService } from './service-access.ts';
import { showBar } from '../../command-line/progress.ts';
import { listenForStopSignals } from '../../command-line/stop.ts';
import type { Terminal } from '../../command-line/terminal.ts';

interface PullOptions extends ServiceOptions {
  into: string;
  details: boolean;
}

/** `fieldledger pull`: brings a copy in a SQLite file up to date, over the public API. */
export function pullCommand(terminal: Terminal): Command {
  return withService(new Command('pull'))
    .description('copy all that a key may read into a SQLite file, or update the copy that is there')
    .requiredOption('--into <file>', 'the SQLite file; created the first time')
    .option('--no-details', 'leave out the lines of quotes and invoices, which take a request for each')
    .action(async (options: PullOptions) => {
      const startedAt = performance.now();
      const folder = dirname(options.into);
      if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
        throw new UsageError(`There is no folder ${quote(folder)}.`);
      using stop = listenForStopSignals();
      using service = openService(options, terminal, stop.signal);
      const result = await service.inSentences(pull(service, options, stop.signal));
      const seconds = Math.round(performance.now() - startedAt) / 1000;
      const { counts, left, isAnew } = result;
      terminal.show(
        { file: options.into, counts, left, isAnew, seconds },
        proseOf(options.into, result, seconds),
      );
    });
}

async function pull(
  service: Service,
  { into, details }: PullOptions,
  signal: AbortSignal,
): Promise<SyncResult> {
  const { client, source, pace } = service;
  const sink = openSqliteCopy(into, { source });
  using bar = showDetails(pace);
  try {
    return await sync(client, { sink, details, signal, ...(bar && { onProgress: bar.update }) });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new UsageError(`Stopped by ${String(signal.reason)}. Run the same command again to continue.`);
  } finally {
    sink.close();
  }
}

/** Returns a progress bar for reading documents' details; undefined without a terminal, because counting takes requests. */
function showDetails(pace: Service['pace']) {
  if (!process.stderr.isTTY) return undefined;
  let doing = 'asking';
  const left = (done: number, total: number) => waitText(pace.secondsFor(Math.max(0, total - done)));
  const bar = showBar((done, total) => `${doing} | ${left(done, total)} left`, { hasLines: false });
  return {
    update: ({ resource, recordCount, details: { done, total } }: SyncProgress) => {
      // Counting the documents first may take a minute.
      const isCounting = recordCount === 0 && done === 0 && total > 0;
      doing = isCounting ? `${total} documents to read` : `${resource} | ${recordCount} records`;
      bar.update(done, Math.max(total, done, 1));
    },
    [Symbol.dispose]: () => bar[Symbol.dispose](),
  };
}

function waitText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function proseOf(file: string, { counts, left, isAnew }: SyncResult, seconds: number): string {
  const count = (value: number, what: string) => (value > 0 ? [`${value.toLocaleString('en')} ${what}`] : []);
  const lines = resources.flatMap((resource: Resource) => {
    const { put = 0, removed = 0 } = counts[resource] ?? {};
    const done = [...count(put, 'new or changed'), ...count(removed, 'removed')];
    return done.length > 0 ? [`  ${resource}: ${done.join(', ')}`] : [];
  });
  const refused = left.map(
    ({ resource, code }) => `  ${resource}: not copied, because the answer is ${code}`,
  );
  const verdict = lines.length > 0 ? 'is up to date' : 'was up to date';
  const anew = isAnew
    ? ['  All was read again: the service was restored from a backup or moved, and may have lost records.']
    : [];
  return [`${file} ${verdict}, in ${seconds.toFixed(1)} s`, ...anew, ...lines, ...refused].join('\n');
}
