import { dirname, join } from 'node:path';

import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError } from 'commander';

import type { Config } from '../config.ts';
import { exampleCompany } from '../demo/example-company.ts';
import { demoKey, loadExampleCompany, loadGeneratedCompany } from '../demo/load.ts';
import type { Engine } from '../store/engine.ts';
import { withDatabase } from './database.ts';
import type { Terminal } from './terminal.ts';

const RECORDS_MAX = 10_000_000;

/** `fieldledger demo`: loads the contract's example company, and a larger generated one when asked. */
export function demoCommand(terminal: Terminal): Command {
  return new Command('demo')
    .description("load the contract's example company; run again, it keeps what is there")
    .option('--records <number>', 'also load a generated company of that many records', recordCount)
    .action(async ({ records }: { records?: number }) => {
      const load = async (engine: Engine, config: Config) => {
        const loaded = [await prepareDemo(engine, config)];
        if (records !== undefined) loaded.push(await prepareLargerDemo(engine, config, records));
        terminal.show(loaded, loaded.map(({ company, key }) => `${company}  ${key}`).join('\n'));
      };
      await withDatabase(terminal, load, { mayCreate: true });
    });
}

/** A demo company and a key that reads all of it. */
export interface Demo {
  company: string;
  key: string;
  isNew: boolean;
}

/** Has the example company and its key ready. */
export async function prepareDemo(engine: Engine, config: Config): Promise<Demo> {
  const isNew = await loadExampleCompany(engine);
  return { company: exampleCompany.id, key: await keyOf(engine, config, exampleCompany.id), isNew };
}

async function prepareLargerDemo(engine: Engine, config: Config, records: number): Promise<Demo> {
  const bar = new SingleBar({
    format: '{bar} {percentage}% | {value} of {total} records | {eta_formatted} left',
    noTTYOutput: false,
  });
  bar.start(records, 0);
  try {
    const { id, isNew } = await loadGeneratedCompany(engine, records, (stored) => bar.update(stored));
    return { company: id, key: await keyOf(engine, config, id), isNew };
  } finally {
    bar.stop();
  }
}

/** The demo's keys are kept beside the database, so that a later start can show one that works. */
function keyOf(engine: Engine, { databaseUrl, keyPrefix }: Config, company: string): Promise<string> {
  const folder = databaseUrl.startsWith('sqlite:') ? dirname(databaseUrl.slice('sqlite:'.length)) : 'data';
  return demoKey(engine, { prefix: keyPrefix, company, file: join(folder, `${company}.key`) });
}

function recordCount(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > RECORDS_MAX) {
    throw new InvalidArgumentError(`It must be an integer from 1 to ${RECORDS_MAX}.`);
  }
  return value;
}
