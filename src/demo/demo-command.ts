import { basename, dirname, join } from 'node:path';

import { Command } from 'commander';

import { listAdministrators } from '../server/features/people/administrators.ts';
import { invite } from '../server/features/people/invitations.ts';
import type { Config } from '../server/process/config.ts';
import { scopes } from '../contract/scopes.ts';
import { exampleCompany } from './example-company.ts';
import { demoKey, loadExampleCompany, loadGeneratedCompany } from './load.ts';
import type { Engine } from '../server/store/engines/engine.ts';
import { integerIn } from '../server/cli/arguments.ts';
import type { Demo } from '../server/commands/serve.ts';
import { withDatabase } from '../server/cli/database.ts';
import { showProgress } from '../command-line/progress.ts';
import type { Terminal } from '../command-line/terminal.ts';

const RECORDS_MAX = 10_000_000;

/** `fieldledger demo`: loads the contract's example company, and a larger generated one when asked. */
export function demoCommand(terminal: Terminal): Command {
  return new Command('demo')
    .description("load the contract's example company, unless it already exists")
    .option(
      '--records <number>',
      'also load a generated company of that many records',
      integerIn(1, RECORDS_MAX),
    )
    .action(async ({ records }: { records?: number }) => {
      const load = async (engine: Engine, config: Config) => {
        const loaded = [await prepareDemo(engine, config)];
        if (records !== undefined) loaded.push(await prepareLargerDemo(engine, config, records));
        terminal.show(loaded, loaded.map(({ company, key }) => `${company}  ${key}`).join('\n'));
      };
      await withDatabase(terminal, load, { mayCreate: true });
    });
}

/** Loads the example company, unless it already exists, and finds or creates its key. */
export async function prepareDemo(engine: Engine, config: Config): Promise<Demo> {
  const isNew = await loadExampleCompany(engine);
  return { company: exampleCompany.id, key: await keyOf(engine, config, exampleCompany.id), isNew };
}

async function prepareLargerDemo(engine: Engine, config: Config, records: number): Promise<Demo> {
  using bar = showProgress('records');
  const update = (stored: number) => bar.update(stored, records);
  const { id, isNew } = await loadGeneratedCompany(engine, records, update);
  return { company: id, key: await keyOf(engine, config, id), isNew };
}

/** The address of the portal for the demo company. While the company has no administrator, it is an invitation. */
export async function demoPortal(
  engine: Engine,
  address: string,
  demo: Demo | undefined,
): Promise<string | undefined> {
  if (!demo) return undefined;
  const { company } = demo;
  const people = await listAdministrators(engine, company);
  if (people.some(({ disabledAt }) => disabledAt === null)) return `${address}/portal`;
  const { token } = await invite(engine, {
    company,
    email: `admin@${company}.example`,
    scopes,
    mayInvite: true,
    by: 'operator',
    now: new Date(),
  });
  return `${address}/portal/invitation#${token}`;
}

/** The demo's keys are kept beside the database, each under its name, so that a later start can show one that works. */
function keyOf(engine: Engine, { databaseUrl, keyPrefix }: Config, company: string): Promise<string> {
  const file = databaseUrl.startsWith('sqlite:')
    ? databaseUrl.slice('sqlite:'.length)
    : join('data', placeOf(databaseUrl));
  const name = basename(file) === 'fieldledger.db' ? company : `${basename(file)}.${company}`;
  return demoKey(engine, { prefix: keyPrefix, company, file: join(dirname(file), `${name}.key`) });
}

/** The hosts and the name of a database of PostgreSQL as a file's name, without user, password and options. */
const placeOf = (url: string) => url.replace(/^\w+:\/\/(?:.*@)?|\?.*$/g, '').replaceAll(/[^\w.-]+/g, '-');
