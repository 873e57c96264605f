import { Command } from 'commander';

import { listOf, readSecretFile } from '../../../command-line/given-values.ts';
import type { Terminal } from '../../../command-line/terminal.ts';
import { type PortalLinkRequest, portalLinkProblem } from '../../../contract/feed.ts';
import { UsageError } from '../../../errors.ts';
import { createFeedAuthentication } from '../feed-tokens/feed-tokens.ts';
import { makePortalLink } from './portal-links.ts';
import { linkOf } from './admin-command.ts';
import { COMPANY } from '../../cli/arguments.ts';
import { withDatabase } from '../../cli/database.ts';

type Options = Pick<PortalLinkRequest, 'name' | 'scopes'> & { invite?: boolean; tokenFile: string };

/** Builds `fieldledger portal-link`, which makes a portal link as `POST /feed/v1/portal-links` does, but on the server. */
export function portalLinkCommand(terminal: Terminal): Command {
  return new Command('portal-link')
    .description('print a link that signs somebody in to the portal; it works once, for a minute')
    .argument(...COMPANY)
    .argument('<email>', 'their email address')
    .requiredOption('--name <name>', 'their name')
    .requiredOption('--scopes <scopes>', 'what they may see and give, comma-separated', (text) =>
      listOf(text),
    )
    .option('--invite', 'they may invite, change and remove administrators')
    .requiredOption('--token-file <file>', 'file with a feed token that may make portal links')
    .action(async (company: string, email: string, options: Options) => {
      const { name, scopes, invite: mayInvite = false, tokenFile } = options;
      const asked = { company, email, name, scopes, mayInvite };
      const problem = portalLinkProblem(asked);
      if (problem !== undefined) throw new UsageError(problem);
      await withDatabase(terminal, async (engine, config) => {
        const now = new Date();
        const authenticate = createFeedAuthentication(engine, { ...config, now: () => now });
        const token = await authenticate(`Bearer ${readSecretFile('--token-file', tokenFile)}`);
        const { code, expiresAt } = await makePortalLink(engine, token, { ...asked, now });
        const link = linkOf(config, code);
        terminal.show({ link, expiresAt }, link);
      });
    });
}
