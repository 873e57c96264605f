import type { Command } from 'commander';

import {
  getByEmail,
  listAdministrators,
  removeAdministrator,
  resetSecondFactor,
  signOutEverywhere,
} from './administrators.ts';
import { invite, inviteToReset } from './invitations.ts';
import { accessText, canonicalEmail } from '../../access/checked-input.ts';
import { changeAccess } from './change-access.ts';
import { PASSWORDS_OFF } from '../sign-in/passwords.ts';
import { httpAddress } from '../../connections/networks.ts';
import type { Config } from '../../process/config.ts';
import { UsageError } from '../../../errors.ts';
import { scopes } from '../../../contract/scopes.ts';
import type { Administrator } from '../../store/accounts/administrator-rows.ts';
import type { PortalLink } from '../../store/accounts/link-rows.ts';
import { COMPANY, scopesIn, scopesText } from '../../cli/arguments.ts';
import { tellSwitches } from '../companies/company-command.ts';
import { DatabaseCommand } from '../../cli/database-command.ts';
import { type Columns, textTable } from '../../cli/table.ts';
import type { Terminal } from '../../../command-line/terminal.ts';

interface CreateOptions {
  scopes: string[];
  invite: boolean;
}

interface SetOptions {
  scopes?: string[];
  invite?: boolean;
  revoke?: boolean;
}

/** Builds the `fieldledger admin` commands, which manage a company's administrators. */
export function adminCommand(terminal: Terminal): Command {
  return new DatabaseCommand('admin', terminal)
    .description("a company's administrators, who manage its keys and webhooks in the portal")
    .addCommand(createCommand(terminal))
    .addCommand(listCommand(terminal))
    .addCommand(setCommand(terminal))
    .addCommand(disableCommand(terminal))
    .addCommand(resetCommand(terminal))
    .addCommand(signOutCommand(terminal))
    .addCommand(removeSecondFactorCommand(terminal));
}

/** Creates a command whose arguments are a company and an administrator's email address. */
function personCommand(name: string, terminal: Terminal): DatabaseCommand {
  const command = new DatabaseCommand(name, terminal);
  return command.argument(...COMPANY).argument('<email>', 'their email address');
}

function createCommand(terminal: Terminal): Command {
  return new DatabaseCommand('create', terminal)
    .description('invite an administrator: print a link that works once, for three days')
    .argument(...COMPANY)
    .argument('<email>', 'email address with which they sign in')
    .option(
      '--scopes <scopes>',
      `scopes they may see and give: comma-separated, of ${scopes.join(', ')}; or all`,
      scopesIn,
      [],
    )
    .option('--invite', 'they may also invite and remove administrators', false)
    .inDatabase(async ({ engine, config }, company: string, email: string, options: CreateOptions) => {
      refusePasswordsOff(config);
      const { token, invitation } = await invite(engine, {
        ...{ company, email, by: 'operator', now: new Date() },
        ...{ scopes: options.scopes, mayInvite: options.invite },
      });
      showLink(terminal, config, token, invitation);
      await tellSwitches(terminal, engine, company);
    });
}

function listCommand(terminal: Terminal): Command {
  return new DatabaseCommand('list', terminal)
    .description('list the administrators, former ones included')
    .argument(...COMPANY)
    .inDatabase(async ({ engine }, company: string) => {
      const found = await listAdministrators(engine, company);
      terminal.show(found, textTable(found, columns, 'No administrators.'));
    });
}

function setCommand(terminal: Terminal): Command {
  return personCommand('set', terminal)
    .description("change an administrator's access, or let a removed one back in")
    .option('--scopes <scopes>', 'scopes they may see and give, comma-separated; or all', scopesIn)
    .option('--invite', 'they may invite, change and remove administrators')
    .option('--no-invite', 'they may not')
    .option('--revoke', 'end the keys and webhooks they made that go beyond it')
    .inDatabase(async ({ engine }, company: string, email: string, options: SetOptions) => {
      const people = await listAdministrators(engine, company);
      // If several people have used the address, all but the last were removed.
      const last = people.findLast((one) => one.email === canonicalEmail(email));
      const { id, scopes: held, mayInvite } = last ?? (await getByEmail(engine.db, company, email));
      const { administrator, ended, left } = await changeAccess(engine, {
        ...{ company, id, by: 'operator', now: new Date() },
        scopes: options.scopes ?? held,
        mayInvite: options.invite ?? mayInvite,
        revoke: options.revoke ? 'all' : [],
      });
      const lines = [
        `${administrator.email}: ${accessText(administrator)}`,
        ...ended.map((made) => `Ended: ${made.id} (${made.name}).`),
        ...left.map(
          (made) => `They made this, and it still works beyond their access: ${made.id} (${made.name}).`,
        ),
      ];
      terminal.show({ ...administrator, ended, left }, lines.join('\n'));
    });
}

function disableCommand(terminal: Terminal): Command {
  return personCommand('disable', terminal)
    .description('remove an administrator, effective immediately')
    .option('--revoke-keys', 'also revoke the keys they made')
    .inDatabase(async ({ engine }, company: string, email: string, options: { revokeKeys?: boolean }) => {
      const { id } = await getByEmail(engine.db, company, email);
      const { administrator, ...keys } = await removeAdministrator(engine, {
        ...{ company, id, by: 'operator', now: new Date() },
        revoke: options.revokeKeys ? 'all' : [],
      });
      const lines = [
        `${administrator.email} no longer has access.`,
        ...keys.revoked.map((key) => `Revoked: ${key.id} (${key.name}).`),
        ...keys.left.map((key) => `A key they made still works: ${key.id} (${key.name}).`),
      ];
      terminal.show({ ...administrator, ...keys }, lines.join('\n'));
    });
}

function signOutCommand(terminal: Terminal): Command {
  return personCommand('sign-out', terminal)
    .description('sign an administrator out everywhere; their password and keys stay')
    .inDatabase(async ({ engine }, company: string, email: string) => {
      const count = await signOutEverywhere(engine, { company, email, now: new Date() });
      const ended = count === 1 ? '1 session has' : `${count} sessions have`;
      terminal.show({ company, email, count }, `${ended} ended.`);
    });
}

function removeSecondFactorCommand(terminal: Terminal): Command {
  return personCommand('remove-second-factor', terminal)
    .description('remove the second factor of an administrator who has lost it; check who is asking first')
    .inDatabase(async ({ engine }, company: string, email: string) => {
      const { id } = await getByEmail(engine.db, company, email);
      await resetSecondFactor(engine, { company, id, by: 'operator', now: new Date() });
      terminal.show(
        { company, email },
        `${email} no longer has a second factor, and is signed out everywhere.`,
      );
    });
}

function resetCommand(terminal: Terminal): Command {
  return personCommand('reset', terminal)
    .description('print a link for an administrator to set a new password; it works once, for a day')
    .inDatabase(async ({ engine, config }, company: string, email: string) => {
      refusePasswordsOff(config);
      const { token, administrator } = await inviteToReset(engine, { company, email, now: new Date() });
      showLink(terminal, config, token, administrator);
    });
}

function refusePasswordsOff({ portalSignIn }: Config): void {
  if (portalSignIn === 'links') throw new UsageError(`PORTAL_SIGN_IN is links. ${PASSWORDS_OFF}`);
}

function showLink(terminal: Terminal, config: Config, token: string, of: PortalLink | Administrator): void {
  const link = linkOf(config, token);
  terminal.tell(`Send this link to ${of.email}: it works once, and won't be shown again.\n`);
  if (config.baseUrl === undefined)
    terminal.tell(
      `BASE_URL isn't set, so the link leads to ${new URL(link).origin}, where this server listens. If people reach the portal elsewhere, set BASE_URL and make a new link.\n`,
    );
  terminal.show({ link, ...of }, link);
}

/** Builds the URL of a portal link: at BASE_URL, or at the host and port on which a server with these settings listens. */
export function linkOf({ baseUrl, host, port }: Config, token: string): string {
  return `${baseUrl ?? httpAddress(host, port)}/portal/invitation#${token}`;
}

const flagText = (flag: boolean) => (flag ? 'yes' : 'no');

const columns: Columns<Administrator> = {
  email: ({ email }) => email,
  name: ({ name }) => name,
  state: ({ disabledAt }) => (disabledAt === null ? 'active' : `disabled ${disabledAt}`),
  since: ({ createdAt }) => createdAt,
  'may invite': ({ mayInvite }) => flagText(mayInvite),
  'second factor': ({ hasSecondFactor }) => flagText(hasSecondFactor),
  scopes: ({ scopes: held }) => scopesText(held),
};
