import { Command } from 'commander';

import { type Scope, scopes } from '../../../contract/scopes.ts';
import { createKey, listKeys, revokeKey } from './keys.ts';
import type { UsedKey } from './stored-keys.ts';
import { COMPANY, scopesIn, scopesText } from '../../cli/arguments.ts';
import { tellSwitches } from '../companies/company-command.ts';
import { withDatabase } from '../../cli/database.ts';
import { textTable } from '../../cli/table.ts';
import type { Terminal } from '../../../command-line/terminal.ts';

/** `fieldledger key create|list|revoke`. */
export function keyCommand(terminal: Terminal): Command {
  const command = new Command('key').description("a company's API keys");
  command
    .command('create')
    .description('create a key and show it, once')
    .argument(...COMPANY)
    .option('--name <name>', 'what the key is for', 'API key')
    .option('--scopes <scopes>', `comma-separated, of ${scopes.join(', ')}; or all`, scopesIn, [])
    .action(async (company: string, options: { name: string; scopes: Scope[] }) => {
      await withDatabase(terminal, async (engine, { keyPrefix }) => {
        const created = await createKey(engine, { prefix: keyPrefix, company, ...options, now: new Date() });
        terminal.tell('Keep this key in a secret store; it is shown only now.\n');
        terminal.show({ key: created.key, ...created.record }, created.key);
        await tellSwitches(terminal, engine, company);
      });
    });
  command
    .command('list')
    .description('list the keys, without their secrets')
    .argument(...COMPANY)
    .action(async (company: string) => {
      await withDatabase(terminal, async (engine) => {
        const keys = await listKeys(engine, company);
        terminal.show(keys, tableOf(keys, new Date()));
      });
    });
  command
    .command('revoke')
    .description('revoke a key; it stops working at once')
    .argument(...COMPANY)
    .argument('<key-id>', 'id of the key, the third of its four parts')
    .action(async (company: string, id: string) => {
      await withDatabase(terminal, async (engine) => {
        const key = await revokeKey(engine, company, id, new Date());
        terminal.show(key, `Revoked ${key.id} (${key.name}).`);
      });
    });
  return command;
}

function tableOf(keys: readonly UsedKey[], now: Date): string {
  const rows = keys.map(({ id, name, scopes: held, createdAt, revokedAt, endsAt, usedAt }) => {
    const lasting =
      endsAt === null ? 'active' : `${endsAt <= now.toISOString() ? 'ended' : 'until'} ${endsAt}`;
    const state = revokedAt === null ? lasting : `revoked ${revokedAt}`;
    return [id, name, state, createdAt, usedAt ?? 'never', scopesText(held)];
  });
  return textTable(['id', 'name', 'state', 'created', 'last used', 'scopes'], rows, 'There are no keys.');
}
