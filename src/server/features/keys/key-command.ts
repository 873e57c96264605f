import type { Command } from 'commander';

import { type Scope, scopes } from '../../../contract/scopes.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import type { UsedKey } from './stored-keys.ts';
import { COMPANY, scopesIn, scopesText } from '../../cli/arguments.ts';
import { tellSwitches } from '../companies/company-command.ts';
import { DatabaseCommand } from '../../cli/database-command.ts';
import { type Columns, textTable } from '../../cli/table.ts';
import type { Terminal } from '../../../command-line/terminal.ts';

interface NewKeyOptions {
  name: string;
  scopes: Scope[];
  lastDay: string;
}

/** Builds `fieldledger key create|list|revoke`, the commands for a company's API keys. */
export function keyCommand(terminal: Terminal): Command {
  const command = new DatabaseCommand('key', terminal).description("a company's API keys");
  command
    .command('create')
    .description('create a key and show it, once')
    .argument(...COMPANY)
    .option('--name <name>', 'what the key is for', 'API key')
    .option('--scopes <scopes>', `comma-separated, of ${scopes.join(', ')}; or all`, scopesIn, [])
    .option(
      '--last-day <day>',
      'last day on which it works, such as 2027-11-20; by default it never ends',
      '',
    )
    .inDatabase(async ({ engine, config }, company: string, options: NewKeyOptions) => {
      const of = { prefix: config.keyPrefix, company };
      const created = await createKey(engine, { ...of, ...options, now: new Date() });
      terminal.tell("Keep this key in a secret store: it won't be shown again.\n");
      terminal.show({ key: created.key, ...created.record }, created.key);
      await tellSwitches(terminal, engine, company);
    });
  command
    .command('list')
    .description('list the keys, without their secrets')
    .argument(...COMPANY)
    .inDatabase(async ({ engine }, company: string) => {
      const keys = await listKeys(engine, company);
      terminal.show(keys, textTable(keys, columns, 'No keys.'));
    });
  command
    .command('revoke')
    .description('revoke a key; it stops working immediately')
    .argument(...COMPANY)
    .argument('<key-id>', 'id of the key, the third of its four parts')
    .inDatabase(async ({ engine }, company: string, id: string) => {
      const key = await revokeKey(engine, company, id, new Date());
      terminal.show(key, `Revoked ${key.id} (${key.name}).`);
    });
  return command;
}

const columns: Columns<UsedKey> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  state: stateText,
  created: ({ createdAt }) => createdAt,
  'last used': ({ usedAt }) => usedAt ?? 'never',
  scopes: ({ scopes: held }) => scopesText(held),
};

function stateText({ revokedAt, endsAt }: UsedKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (endsAt === null) return 'active';
  return `${endsAt <= new Date().toISOString() ? 'ended' : 'until'} ${endsAt}`;
}
