import { runProgram } from '../command-line/program.ts';
import { createTerminal, type Terminal } from '../command-line/terminal.ts';

/** The commands that read from a service, by name; the server's package includes them too. */
export const integratorsCommands = {
  pull: async () => (await import('./commands/pull.ts')).pullCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
};

const groups = {
  'Commands:': {
    ...integratorsCommands,
    webhook: async () => (await import('./commands/webhook.ts')).webhookTools,
    completion: async () => (await import('../command-line/completion.ts')).completionCommand,
  },
};

/** Example command lines for the help; each command's help shows its own. */
export const integratorsExamples = `
  fieldledger webhook sample invoice.issued --to http://localhost:3000/hook
  fieldledger webhook play day --to http://localhost:3000/hook --speed 600
  fieldledger pull --url https://api.fieldledger.example --key-file key.txt \\
    --into copy.sqlite
  fieldledger export invoices --lines --out invoices.csv \\
    --url https://api.fieldledger.example --key-file key.txt
  fieldledger export invoices --columns number,dueDate --decimal , --out - \\
    --url https://api.fieldledger.example --key-file key.txt
  fieldledger export receivables --from copy.sqlite --out receivables.xlsx
  fieldledger export vat --from copy.sqlite --month 2026-10 --out vat.csv
  fieldledger mcp --url https://api.fieldledger.example --key-file key.txt
  fieldledger mcp --copy copy.sqlite
  eval "$(fieldledger completion bash)"           # in ~/.bashrc
  eval "$(fieldledger completion zsh)"            # in ~/.zshrc, after compinit
  fieldledger completion fish > ~/.config/fish/completions/fieldledger.fish`;

/**
 * Runs one command line of the integrators' package, and returns its exit code.
 * @param args the arguments after the program's name.
 * @returns the exit code: 0 for success, 1 for failure, 2 for a usage error.
 */
export async function runIntegrators(
  args: readonly string[],
  terminal: Terminal = createTerminal(),
): Promise<number> {
  const description = 'Reads from a service with the Fieldledger API, and tries receivers of its webhooks';
  return runProgram({ description, groups, examples: integratorsExamples }, args, terminal);
}
