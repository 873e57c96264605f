import type { Dialect, Migration } from './migration.ts';

/**
 * The documents that go to the operator's access point: a row for each, committed with its issue and kept as long as the
 * document. `due_at` is when it is to be handed over, while it is being sent, when the lease on it ends, and then, when it was
 * settled. `attempts` is a JSON array of the latest attempts, which is emptied after 30 days. A company whose documents go there says so in `hand_over`.
 */
export const handOvers: Migration = {
  name: '0022-hand-overs',
  statements: (dialect) => [
    handOversTable(dialect),
    "CREATE INDEX hand_overs_due ON hand_overs (due_at) WHERE state IN ('waiting', 'sending')",
    "CREATE INDEX hand_overs_tried ON hand_overs (due_at) WHERE attempts <> '[]'",
    "CREATE INDEX hand_overs_failed ON hand_overs (company, due_at) WHERE state = 'failed'",
    'ALTER TABLE companies ADD COLUMN hand_over INTEGER NOT NULL DEFAULT 0 CHECK (hand_over IN (0, 1))',
  ],
};

function handOversTable({ text, table }: Dialect): string {
  return `CREATE TABLE hand_overs (
    company ${text} NOT NULL REFERENCES companies (id),
    id ${text} NOT NULL,
    created_at ${text} NOT NULL,
    state ${text} NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sending', 'handed_over', 'failed', 'withheld')),
    attempt_count INTEGER NOT NULL DEFAULT 0,
    failure_count INTEGER NOT NULL DEFAULT 0,
    due_at ${text} NOT NULL,
    lease ${text},
    problem ${text},
    attempts ${text} NOT NULL DEFAULT '[]',
    PRIMARY KEY (company, id)
  ) ${table}`;
}
