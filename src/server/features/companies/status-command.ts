import { Command } from 'commander';

import { type CompanyStatus, listCompanyStatus } from './company-status.ts';
import { withDatabase } from '../../cli/database.ts';
import { textTable } from '../../cli/table.ts';
import type { Terminal } from '../../../command-line/terminal.ts';

/** `fieldledger status`: how all companies are doing. */
export function statusCommand(terminal: Terminal): Command {
  return new Command('status')
    .description('show how all companies are doing: feeds, webhooks, deliveries, keys')
    .action(async () => {
      await withDatabase(terminal, async (engine) => {
        const now = new Date();
        const companies = await listCompanyStatus(engine, now);
        const rows = companies.map((company) => rowOf(company, now));
        const headings = [
          'company',
          'last change',
          'webhooks failing',
          'deliveries due',
          'keys limited',
          'name',
        ];
        terminal.show(companies, textTable(headings, rows, 'There are no companies.'));
      });
    });
}

function rowOf(company: CompanyStatus, now: Date): string[] {
  const { id, name, lastChangeAt, failingWebhooks, dueDeliveries, limitedKeys } = company;
  const counts = [failingWebhooks, dueDeliveries, limitedKeys].map((count) => count.toLocaleString('en'));
  return [
    id,
    lastChangeAt === null ? 'never' : ageText(now.getTime() - Date.parse(lastChangeAt)),
    ...counts,
    name,
  ];
}

function ageText(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} days ago`;
}
