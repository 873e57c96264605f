import { execFile, type ExecFileOptions, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import got from 'got';
import type { Test } from 'tap';

import { type Sample, type SampledOperation, samplesOf } from '../../../src/server/reference/samples.ts';

/** An operation with its code in each language, as the reference shows it. */
export interface ShownOperation {
  operationId: string;
  samples: Sample[];
}

/** The samples for a service at another address, with pages of another length. */
export function samplesFor(operations: ShownOperation[], address: string, url: string, limit = 100) {
  const aimed = (source: string) => source.replaceAll(address, url).replace(/(limit\W+)100/, `$1${limit}`);
  return operations.map(({ operationId, samples }) => ({
    operationId,
    samples: samples.map(({ lang, source }) => ({ lang, source: aimed(source) })),
  }));
}

const bundle = join(import.meta.dirname, '..', '..', '..', 'generated', 'openapi.json');
const { paths, servers } = JSON.parse(readFileSync(bundle, 'utf8')) as {
  paths: Record<string, { get: SampledOperation }>;
  servers: [{ url: string }];
};

/** The address that the published samples ask. */
export const SHOWN_ADDRESS = servers[0].url;

/** The samples of every operation, for a service at another address. */
export function publishedSamples(url: string, limit?: number): ShownOperation[] {
  const operations = Object.entries(paths).map(([path, { get }]) => ({
    operationId: get.operationId,
    samples: samplesOf({ ...get, path }),
  }));
  return samplesFor(operations, SHOWN_ADDRESS, url, limit);
}

export function sourceIn(language: string, { operationId, samples }: ShownOperation): string {
  const sample = samples.find(({ lang }) => lang === language);
  if (!sample) throw new Error(`${operationId} has no sample in ${language}.`);
  return sample.source;
}

/**
 * Compares what the samples printed, each behind a line with its operation's name, with the service's own records.
 * @param pageSize how many records of a list the samples read.
 */
export async function judgeOutput(
  t: Test,
  operations: ShownOperation[],
  printed: string,
  { key, pageSize = 100 }: { key: string; pageSize?: number },
): Promise<void> {
  const parts = new Map(printed.split(/^== /m).map((part) => [/^\w*/.exec(part)?.[0], part]));
  for (const operation of operations) {
    const { operationId } = operation;
    const output = parts.get(operationId);
    t.type(output, 'string', operationId);
    if (operationId === 'getInvoicePdf') continue;
    const [, target = ''] = /"(http:[^"]+)"/.exec(sourceIn('curl', operation)) ?? [];
    const url = target.replace(/limit=\d+/, `limit=${pageSize}`);
    const { data } = await got(url, { headers: { authorization: `Bearer ${key}` } }).json<{
      data: { id: string } | { id: string }[];
    }>();
    const ids = [data].flat().map(({ id }) => id);
    t.strictSame(
      ids.filter((id) => output?.includes(id) !== true),
      [],
      operationId,
    );
  }
}

export function judgePdf(t: Test, folder: string, name: string): void {
  t.match(readFileSync(join(folder, name), 'latin1'), /^%PDF-/);
}

const execute = promisify(execFile);

/** Runs a program to its end and gives what it printed; an exit code other than 0 is thrown with what it said. */
export async function run(program: string, args: string[], options: ExecFileOptions): Promise<string> {
  const { stdout } = await execute(program, args, { timeout: 120_000, ...options, encoding: 'utf8' });
  return stdout;
}

/** Says why a test can't be run here; false where it can. */
export function missing(program: string, option = '--version'): string | false {
  return spawnSync(program, [option]).error ? `${program} is not on this machine` : false;
}
