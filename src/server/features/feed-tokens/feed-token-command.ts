import type { Command } from 'commander';

import { listOf } from '../../../command-line/given-values.ts';
import type { Terminal } from '../../../command-line/terminal.ts';
import { accessText } from '../../access/checked-input.ts';
import { createFeedToken } from './feed-tokens.ts';
import { type FeedToken, linkAccessOf, listFeedTokens, revokeFeedToken } from './stored-feed-tokens.ts';
import { scopesIn } from '../../cli/arguments.ts';
import { DatabaseCommand } from '../../cli/database-command.ts';
import { type Columns, textTable } from '../../cli/table.ts';

type CreateOptions = Omit<Parameters<typeof createFeedToken>[1], 'keyPrefix' | 'now'>;

/** Builds `fieldledger feed-token create|list|revoke`, the commands for the tokens of business systems. */
export function feedTokenCommand(terminal: Terminal): Command {
  const command = new DatabaseCommand('feed-token', terminal).description(
    'tokens that business systems use to send changes over HTTP',
  );
  command
    .command('create')
    .description('create a token and show it, once')
    .requiredOption('--name <name>', 'the business system that uses it')
    .requiredOption('--companies <ids>', 'companies it is for, comma-separated; or all', namesIn)
    .requiredOption(
      '--changes <names>',
      'changes it may send, comma-separated, such as job.create; or all',
      namesIn,
    )
    .option(
      '--portal-links <scopes>',
      'it may make portal links that give up to these scopes; or all',
      scopesIn,
    )
    .option('--portal-invites', 'its portal links may let people invite others')
    .inDatabase(async ({ engine, config }, options: CreateOptions) => {
      const { keyPrefix } = config;
      const created = await createFeedToken(engine, { keyPrefix, ...options, now: new Date() });
      terminal.tell("Keep this token in a secret store: it won't be shown again.\n");
      terminal.show({ token: created.token, ...created.record }, created.token);
    });
  command
    .command('list')
    .description('list the tokens, without their secrets')
    .inDatabase(async ({ engine }) => {
      const tokens = await listFeedTokens(engine);
      terminal.show(tokens, textTable(tokens, columns, 'No feed tokens.'));
    });
  command
    .command('revoke')
    .description('revoke a token; it stops working immediately')
    .argument('<token-id>', 'id of the token, the second of its three parts')
    .inDatabase(async ({ engine }, id: string) => {
      await revokeFeedToken(engine, id, new Date());
      terminal.show({ id, revoked: true }, `Revoked ${id}.`);
    });
  return command;
}

/** Parses comma-separated names, or `all`. */
const namesIn = (text: string) => (text === 'all' ? 'all' : listOf(text));

const columns: Columns<FeedToken> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  state: ({ revokedAt }) => (revokedAt === null ? 'active' : `revoked ${revokedAt}`),
  created: ({ createdAt }) => createdAt,
  'last used': ({ usedAt }) => usedAt ?? 'never',
  companies: ({ companies }) => companies?.join(',') ?? 'all',
  changes: ({ changes }) => changes?.join(',') ?? 'all',
  'portal links': (token) => accessText(linkAccessOf(token)) || 'none',
};
