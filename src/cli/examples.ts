/**
 * Command lines that stand below the help of a command, by its name: one or more lines each, none longer than a screen of 80
 * columns. A test finds their commands and options.
 */
export const EXAMPLES: Readonly<Record<string, string>> = {
  serve: `
  fieldledger serve
  fieldledger serve --demo`,
  'company create': `
  fieldledger company create acme --name "Acme Plumbing" --api --invoicing
  fieldledger company create acme --time-zone Europe/London --currency GBP`,
  'company set': `
  fieldledger company set acme --logo logo.png --iban IE29AIBK93115212345678`,
  'admin create': `
  fieldledger admin create acme jane@acme.example`,
  'key create': `
  fieldledger key create acme --name Accountant --scopes invoices:read`,
  'webhook create': `
  fieldledger webhook create acme https://hooks.acme.example/fieldledger \\
    --events invoice.issued,invoice.paid`,
  'webhook sample': `
  fieldledger webhook sample invoice.issued --to http://localhost:3000/hook`,
  'webhook play': `
  fieldledger webhook play day --to http://localhost:3000/hook --speed 600`,
  apply: `
  fieldledger apply changes.jsonl > answers.jsonl
  your-program | fieldledger apply`,
  'document pdf': `
  fieldledger document pdf 019a9c5e-6a34-7c35-9b0e-2f3d1c5b7a90 --out invoice.pdf`,
  'numbering set': `
  fieldledger numbering set acme invoice --format INV-{year}-{number:4}
  fieldledger numbering set acme invoice --last 1041`,
  backup: `
  fieldledger backup /var/backups/fieldledger.db`,
  restore: `
  fieldledger restore /var/backups/fieldledger.db`,
  copy: `
  fieldledger copy --from sqlite:data/fieldledger.db \\
    --to postgres://fieldledger@db.example/fieldledger`,
  pull: `
  fieldledger pull --url https://api.fieldledger.example --key-file key.txt \\
    --into copy.sqlite`,
  export: `
  fieldledger export invoices --lines --out invoices.csv \\
    --url https://api.fieldledger.example --key-file key.txt
  fieldledger export invoices --columns number,dueDate --decimal , --out - \\
    --url https://api.fieldledger.example --key-file key.txt`,
  mcp: `
  fieldledger mcp --url https://api.fieldledger.example --key-file key.txt`,
  completion: `
  eval "$(fieldledger completion bash)"           # in ~/.bashrc
  eval "$(fieldledger completion zsh)"            # in ~/.zshrc, after compinit
  fieldledger completion fish > ~/.config/fish/completions/fieldledger.fish`,
};
