import { Command } from 'commander';

import { listAdministrators, removeAdministrator } from '../access/administrators.ts';
import { invite, inviteToReset } from '../access/invitations.ts';
import type { Config } from '../config.ts';
import { scopes } from '../contract/scopes.ts';
import { quote, UsageError } from '../errors.ts';
import type { Administrator } from '../store/portal/administrators.ts';
import { COMPANY, listOf, scopesText } from './arguments.ts';
import { tellSwitches } from './company.ts';
import { withDatabase } from './database.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

/** `fieldledger admin create|list|disable|reset`. */
export function adminCommand(terminal: Terminal): Command {
  return new Command('admin')
    .description("a company's administrators, who manage its keys and webhooks in the portal")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(disableCommand(terminal))
    .addCommand(resetCommand(terminal));
}

function createCommand(terminal: Terminal): Command {
  return new Command('create')
    .description('invite an administrator: print a link that works once, for three days')
    .argument(...COMPANY)
    .argument('<email>', 'e-mail address with which they sign in')
    .option(
      '--scopes <scopes>',
      `what they may see and give: comma-separated, of ${scopes.join(', ')}`,
      (text) => listOf(text),
      [...scopes] as string[],
    )
    .option('--no-invite', 'they may not invite or remove administrators')
    .action(async (company: string, email: string, options: { scopes: string[]; invite: boolean }) => {
      await withDatabase(terminal, async (engine, config) => {
        const { token, invitation } = await invite(engine, {
          company,
          email,
          scopes: options.scopes,
          mayInvite: options.invite,
          by: 'operator',
          now: new Date(),
        });
        const link = linkOf(config, token);
        terminal.tell(`Send this link to ${invitation.email}; it works once and is shown only now.\n`);
        terminal.show({ link, ...invitation }, link);
        await tellSwitches(terminal, engine, company);
      });
    });
}

function listCommand(terminal: Terminal): Command {
  return new Command('list')
    .description('list the administrators, former ones included')
    .argument(...COMPANY)
    .action(async (company: string) => {
      await withDatabase(terminal, async (engine) => {
        const found = await listAdministrators(engine, company);
        terminal.show(found, tableOf(found));
      });
    });
}

function disableCommand(terminal: Terminal): Command {
  return new Command('disable')
    .description('take the access of an administrator away, at once')
    .argument(...COMPANY)
    .argument('<email>', 'their e-mail address')
    .action(async (company: string, email: string) => {
      await withDatabase(terminal, async (engine) => {
        const found = (await listAdministrators(engine, company)).find(
          (one) => one.email === email.toLowerCase() && one.disabledAt === null,
        );
        if (!found)
          throw new UsageError(`The company ${quote(company)} has no administrator ${quote(email)}.`);
        const removed = await removeAdministrator(engine, {
          company,
          id: found.id,
          by: 'operator',
          now: new Date(),
        });
        terminal.show(removed, `${removed.email} no longer has access.`);
      });
    });
}

function resetCommand(terminal: Terminal): Command {
  return new Command('reset')
    .description('print a link with which an administrator sets a new password; it works once, for a day')
    .argument(...COMPANY)
    .argument('<email>', 'their e-mail address')
    .action(async (company: string, email: string) => {
      await withDatabase(terminal, async (engine, config) => {
        const { token, administrator } = await inviteToReset(engine, { company, email, now: new Date() });
        const link = linkOf(config, token);
        terminal.tell(`Send this link to ${administrator.email}; it works once and is shown only now.\n`);
        terminal.show({ link, ...administrator }, link);
      });
    });
}

/** The address of a link: at BASE_URL, or where a server with these settings listens. */
export function linkOf({ baseUrl, host, port }: Config, token: string): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${baseUrl ?? `http://${name}:${port}`}/portal/invitation#${token}`;
}

function tableOf(administrators: readonly Administrator[]): string {
  const rows = administrators.map(({ email, name, createdAt, disabledAt, scopes: held, mayInvite }) => {
    const state = disabledAt === null ? 'active' : `disabled ${disabledAt}`;
    return [email, name, state, createdAt, mayInvite ? 'yes' : 'no', scopesText(held)];
  });
  const headings = ['e-mail', 'name', 'state', 'since', 'may invite', 'scopes'];
  return table(headings, rows, 'There are no administrators.');
}
