import { integratorsCommands, integratorsExamples } from './client/main.ts';
import { runProgram } from './command-line/program.ts';
import { createTerminal, type Terminal } from './command-line/terminal.ts';

const groups = {
  'For integrators ("webhook sample" and "webhook play" too):': integratorsCommands,
  'For operators, the service:': {
    serve: async () => {
      const { serveCommand } = await import('./server/commands/serve.ts');
      const demo = await import('./demo/demo-command.ts');
      return (terminal: Terminal) => serveCommand(terminal, demo);
    },
    deliver: async () => (await import('./server/commands/deliver.ts')).deliverCommand,
    status: async () => (await import('./server/features/companies/status-command.ts')).statusCommand,
    config: async () => (await import('./server/commands/config.ts')).configCommand,
    demo: async () => (await import('./demo/demo-command.ts')).demoCommand,
  },
  'For operators, companies:': {
    company: async () => (await import('./server/features/companies/company-command.ts')).companyCommand,
    admin: async () => (await import('./server/features/people/admin-command.ts')).adminCommand,
    key: async () => (await import('./server/features/keys/key-command.ts')).keyCommand,
    webhook: async () => {
      const { webhookCommand } = await import('./server/features/webhooks/webhook-command.ts');
      const { receiverCommands } = await import('./client/commands/webhook.ts');
      return (terminal: Terminal) => {
        const command = webhookCommand(terminal);
        for (const added of receiverCommands(terminal))
          command.addCommand(added.helpGroup('For integrators:'));
        return command;
      };
    },
    'feed-token': async () =>
      (await import('./server/features/feed-tokens/feed-token-command.ts')).feedTokenCommand,
    'portal-link': async () =>
      (await import('./server/features/people/portal-link-command.ts')).portalLinkCommand,
    apply: async () => {
      const { applyCommand } = await import('./server/commands/apply.ts');
      const { createFeedSender } = await import('./client/feed/feed-sender.ts');
      return (terminal: Terminal) => applyCommand(terminal, createFeedSender);
    },
    numbering: async () => (await import('./server/commands/numbering.ts')).numberingCommand,
    document: async () => (await import('./server/features/documents/document-command.ts')).documentCommand,
  },
  'For operators, the store:': {
    migrate: async () => (await import('./server/commands/migrate.ts')).migrateCommand,
    backup: async () => (await import('./server/commands/backup.ts')).backupCommand,
    restore: async () => (await import('./server/commands/restore.ts')).restoreCommand,
    copy: async () => (await import('./server/commands/copy.ts')).copyCommand,
    verify: async () => (await import('./server/commands/verify.ts')).verifyCommand,
  },
  'Commands:': {
    completion: async () => (await import('./command-line/completion.ts')).completionCommand,
  },
};

/** Example command lines; the help of each command shows its own. */
export const examples = `
  fieldledger serve
  fieldledger serve --demo
  fieldledger company create acme --name "Acme Plumbing" --api --invoicing
  fieldledger company create acme --time-zone Europe/London --currency GBP
  fieldledger company set acme --logo logo.png --iban IE29AIBK93115212345678
  fieldledger admin create acme jane@acme.example --scopes all --invite
  fieldledger key create acme --name Accountant --scopes invoices:read
  fieldledger webhook create acme https://hooks.acme.example/fieldledger \\
    --events invoice.issued,invoice.paid
  fieldledger apply changes.jsonl > answers.jsonl
  your-program | fieldledger apply
  fieldledger apply changes.jsonl --to https://feed.example.com --token-file token.txt
  fieldledger feed-token create --name erp --companies acme --changes all
  fieldledger portal-link acme jane@acme.example --name Jane \\
    --scopes jobs:read --token-file token
  fieldledger document pdf 019a9c5e-6a34-7c35-9b0e-2f3d1c5b7a90 --out invoice.pdf
  fieldledger numbering set acme invoice --format INV-{year}-{number:4}
  fieldledger numbering set acme invoice --last 1041
  fieldledger backup /var/backups/fieldledger.db
  fieldledger restore /var/backups/fieldledger.db
  fieldledger copy --from sqlite:data/fieldledger.db \\
    --to postgres://fieldledger_owner@db.example/fieldledger${integratorsExamples}`;

/**
 * Runs one command line of the server's package, which includes the integrators' commands.
 * @param args the arguments after the program's name.
 * @returns the exit code: 0 for success, 1 for failure, 2 for a usage error.
 */
export async function main(args: readonly string[], terminal: Terminal = createTerminal()): Promise<number> {
  const description = 'A read-only JSON API over field-service and invoicing records';
  return runProgram({ description, groups, examples }, args, terminal);
}
