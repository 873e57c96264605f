import { readFileSync, statSync } from 'node:fs';

import { type Command, InvalidArgumentError, Option } from 'commander';

import { type CompanySettings, createCompany, setCompany } from '../../backoffice/companies.ts';
import { listOf } from '../../../command-line/given-values.ts';
import { type Module, modules } from '../../../contract/scopes.ts';
import { logoFromFile } from '../../logos/logo.ts';
import { type Company, getCompany, listCompanies } from '../../store/records/companies.ts';
import type { CompanyProfile } from '../../store/tables/companies.ts';
import { listCompanyStatus } from './company-status.ts';
import { listChanges, type NotedChange } from '../../store/records/moves.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { addCompanyDataCommands } from './company-data-command.ts';
import { argumentBy, integerIn } from '../../cli/arguments.ts';
import { DatabaseCommand } from '../../cli/database-command.ts';
import { type Columns, textTable } from '../../cli/table.ts';
import { onOrOff } from '../../process/setting-values.ts';
import type { Terminal } from '../../../command-line/terminal.ts';

/** Builds `fieldledger company create|set|list|changes|export|erase`, the commands for companies and their settings. */
export function companyCommand(terminal: Terminal): Command {
  const command = new DatabaseCommand('company', terminal).description('companies and their switches');
  withSettings(command.command('create'))
    .description('create a company; the API and invoicing stay off until asked for')
    .argument('<id>', 'lower-case letters, digits and hyphens; a part of every key')
    .inDatabase(async ({ engine }, id: string, options: SettingOptions) => {
      const settings = { apiEnabled: false, invoicingEnabled: false, ...settingsOf(options) };
      const company = await createCompany(engine, id, settings, new Date());
      terminal.show(company, `Created.\n${companyText(company)}`);
      await tellSwitches(terminal, engine, id);
    });
  withSettings(command.command('set'))
    .description("change a company's settings; other settings stay")
    .argument('<id>')
    .inDatabase(async ({ engine }, id: string, options: SettingOptions) => {
      const company = await setCompany(engine, id, settingsOf(options));
      terminal.show(company, companyText(company));
    });
  command
    .command('list')
    .description('list the companies')
    .inDatabase(async ({ engine }) => {
      const companies = await listCompanies(engine);
      const status = new Map((await listCompanyStatus(engine, new Date())).map((one) => [one.id, one]));
      const shown = companies.map((one) => ({
        ...one,
        lastChangeAt: status.get(one.id)?.lastChangeAt ?? null,
      }));
      terminal.show(shown, textTable(companies, columns, 'No companies.'));
    });
  command
    .command('changes')
    .description('list the changes that feeds made to a company, latest first, with the token used')
    .argument('<id>')
    .option('--token <token-id>', 'only changes sent with this feed token')
    .option('--record <record-id>', 'only changes to this record')
    .option('--limit <count>', 'how many at most', integerIn(1, 10_000), 100)
    .inDatabase(async ({ engine }, id: string, options: ChangesOptions) => {
      await getCompany(engine, id);
      const changes = await listChanges(engine, id, options);
      const shown = changes.map(({ contentDigest: _, ...change }) => change);
      terminal.show(shown, textTable(shown, changeColumns, 'No changes.'));
    });
  addCompanyDataCommands(command, terminal);
  return command;
}

interface ChangesOptions {
  token?: string;
  record?: string;
  limit: number;
}

const changeColumns: Columns<Omit<NotedChange & { id: string }, 'contentDigest'>> = {
  applied: ({ appliedAt }) => appliedAt,
  change: ({ change }) => change,
  record: ({ recordId }) => recordId ?? '',
  token: ({ token }) => token ?? '',
  id: ({ id }) => id,
};

interface SettingOptions extends CompanyProfile {
  /** The `--json` option, which every command has. */
  json?: boolean;
  name?: string;
  api?: boolean;
  subscription?: boolean;
  invoicing?: boolean;
  handOver?: boolean;
  modules?: Module[];
  timeZone?: string;
  currency?: string;
}

const switchIn = argumentBy(onOrOff);

function withSettings<C extends Command>(command: C): C {
  return command
    .option('--name <name>', 'name that people know it by')
    .option('--api [on|off]', 'API access: on (also if you leave the word out) or off', switchIn)
    .option('--subscription [on|off]', 'active subscription', switchIn)
    .option('--invoicing [on|off]', 'invoicing, which invoices, PDFs and quotes need', switchIn)
    .option('--hand-over [on|off]', 'documents go to the access point', switchIn)
    .option(
      '--modules <modules>',
      `what the plan includes, comma-separated, of ${modules.join(', ')}`,
      (text) => [...new Set(listOf(text))],
    )
    .option('--time-zone <zone>', 'IANA time zone, such as Europe/Dublin')
    .option('--currency <code>', 'own currency, such as EUR')
    .option('--legal-name <name>')
    .option('--trading-name <name>')
    .option('--address-lines <lines>', 'separated by semicolons', (text) => listOf(text, ';'))
    .option('--postcode <code>', 'Eircode or postcode')
    .option('--country-code <code>', 'IE or GB')
    .option('--vat-id <number>', 'VAT number with its country prefix')
    .option('--company-number <number>')
    .option('--email <address>')
    .option('--phone <number>')
    .option('--website <address>')
    .option('--bank-account-name <name>')
    .option('--iban <iban>')
    .option('--bic <bic>')
    .option(
      '--payment-link <address>',
      'https address where customers pay, with {number} and {amount} as placeholders',
    )
    .option('--late-payment-terms <text>', 'printed where a document says how to pay')
    .addOption(new Option('--page-size <size>', 'paper size of documents').choices(['A4', 'Letter']))
    .addOption(new Option('--logo <file>', 'PNG or JPEG picture').argParser(readLogo));
}

function settingsOf({ json: _, ...options }: SettingOptions): Partial<CompanySettings> {
  const { api: apiEnabled, subscription: subscriptionActive, invoicing: invoicingEnabled, ...rest } = options;
  const { name, handOver, modules: included, timeZone, currency, ...profile } = rest;
  const switches = { apiEnabled, subscriptionActive, invoicingEnabled, handOver };
  const settings = { name, ...switches, modules: included, timeZone, currency, profile };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** Tells the user how to switch on the API and invoicing, if either is off. */
export async function tellSwitches(terminal: Terminal, engine: Engine, id: string): Promise<void> {
  const { apiEnabled, invoicingEnabled } = await getCompany(engine, id);
  const off = [
    ...(apiEnabled ? [] : [{ what: 'API access', option: '--api' }]),
    ...(invoicingEnabled ? [] : [{ what: 'invoicing', option: '--invoicing' }]),
  ];
  if (off.length === 0) return;
  const what = off.map((one) => one.what).join(' and ');
  const options = off.map(({ option }) => option).join(' ');
  terminal.tell(`Off for this company: ${what}. To switch on: fieldledger company set ${id} ${options}\n`);
}

const state = (isOn: boolean) => (isOn ? 'on' : 'off');

const columns: Columns<Company> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  api: ({ apiEnabled }) => state(apiEnabled),
  subscription: ({ subscriptionActive }) => state(subscriptionActive),
  invoicing: ({ invoicingEnabled }) => state(invoicingEnabled),
  'time zone': ({ timeZone }) => timeZone,
  currency: ({ currency }) => currency,
  modules: ({ modules: held }) => (held.length === modules.length ? 'all' : held.join(',') || 'none'),
  'issued elsewhere': ({ issuedElsewhere }) => issuedElsewhere.join(',') || 'none',
};

function companyText(company: Company): string {
  return [
    `${company.id}  ${company.name}`,
    `  api ${state(company.apiEnabled)}, subscription ${state(company.subscriptionActive)}, invoicing ${state(company.invoicingEnabled)}`,
    `  modules ${company.modules.join(', ') || 'none'}; ${company.timeZone}; ${company.currency}`,
    ...(company.issuedElsewhere.length === 0
      ? []
      : [`  issued by the business system: ${company.issuedElsewhere.join(', ')}`]),
    ...(company.handOver ? ['  documents go to the access point'] : []),
  ].join('\n');
}

function readLogo(path: string): string {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file?.isFile()) throw new InvalidArgumentError(`There is no file ${path}.`);
  try {
    return logoFromFile(readFileSync(path));
  } catch (error) {
    throw new InvalidArgumentError(`Documents can't show it: ${(error as Error).message}.`);
  }
}
