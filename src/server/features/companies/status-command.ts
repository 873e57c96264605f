import type { Command } from 'commander';

import { type CompanyStatus, listCompanyStatus } from './company-status.ts';
import { DatabaseCommand } from '../../cli/database-command.ts';
import { type Columns, textTable } from '../../cli/table.ts';
import type { Terminal } from '../../../command-line/terminal.ts';

/** Builds `fieldledger status`, which shows the state of every company. */
export function statusCommand(terminal: Terminal): Command {
  return new DatabaseCommand('status', terminal)
    .description('show how all companies are doing: feeds, webhooks, deliveries, keys')
    .inDatabase(async ({ engine }) => {
      const now = new Date();
      const companies = await listCompanyStatus(engine, now);
      terminal.show(companies, textTable(companies, columnsAt(now), 'No companies.'));
    });
}

const countText = (count: number) => count.toLocaleString('en');

const columnsAt = (now: Date): Columns<CompanyStatus> => ({
  company: ({ id }) => id,
  'last change': ({ lastChangeAt }) =>
    lastChangeAt === null ? 'never' : ageText(now.getTime() - Date.parse(lastChangeAt)),
  'webhooks failing': ({ failingWebhooks }) => countText(failingWebhooks),
  'deliveries due': ({ dueDeliveries }) => countText(dueDeliveries),
  'keys limited': ({ limitedKeys }) => countText(limitedKeys),
  name: ({ name }) => name,
});

function ageText(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} days ago`;
}
