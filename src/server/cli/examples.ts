/** Command lines that stand below the help of their commands, none longer than a screen of 80 columns. */
export const EXAMPLES = `
  fieldledger serve
  fieldledger serve --demo
  fieldledger company create acme --name "Acme Plumbing" --api --invoicing
  fieldledger company create acme --time-zone Europe/London --currency GBP
  fieldledger company set acme --logo logo.png --iban IE29AIBK93115212345678
  fieldledger admin create acme jane@acme.example
  fieldledger key create acme --name Accountant --scopes invoices:read
  fieldledger webhook create acme https://hooks.acme.example/fieldledger \\
    --events invoice.issued,invoice.paid
  fieldledger webhook sample invoice.issued --to http://localhost:3000/hook
  fieldledger webhook play day --to http://localhost:3000/hook --speed 600
  fieldledger apply changes.jsonl > answers.jsonl
  your-program | fieldledger apply
  fieldledger document pdf 019a9c5e-6a34-7c35-9b0e-2f3d1c5b7a90 --out invoice.pdf
  fieldledger numbering set acme invoice --format INV-{year}-{number:4}
  fieldledger numbering set acme invoice --last 1041
  fieldledger backup /var/backups/fieldledger.db
  fieldledger restore /var/backups/fieldledger.db
  fieldledger copy --from sqlite:data/fieldledger.db \\
    --to postgres://fieldledger_owner@db.example/fieldledger
  fieldledger pull --url https://api.fieldledger.example --key-file key.txt \\
    --into copy.sqlite
  fieldledger export invoices --lines --out invoices.csv \\
    --url https://api.fieldledger.example --key-file key.txt
  fieldledger export invoices --columns number,dueDate --decimal , --out - \\
    --url https://api.fieldledger.example --key-file key.txt
  fieldledger mcp --url https://api.fieldledger.example --key-file key.txt
  eval "$(fieldledger completion bash)"           # in ~/.bashrc
  eval "$(fieldledger completion zsh)"            # in ~/.zshrc, after compinit
  fieldledger completion fish > ~/.config/fish/completions/fieldledger.fish`;

/** The examples of a command such as `webhook create`, or nothing; a line that goes on ends with a backslash. */
export function examplesOf(words: string): string {
  const name = new RegExp(`\\bfieldledger ${words}(?![-\\w])`);
  const examples = EXAMPLES.split(/(?<!\\)(?=\n)/);
  return examples.filter((example) => name.test(example)).join('');
}
