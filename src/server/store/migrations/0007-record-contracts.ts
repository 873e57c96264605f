import { keyedTable, type Migration } from './migration.ts';

/**
 * By which contract the records of each resource are rendered (./render-anew.ts). While they are being rendered anew,
 * `rendered_company` and `rendered_id` name the last record that is done; both are empty before the first, and null when
 * all are.
 */
export const recordContracts: Migration = {
  name: '0007-record-contracts',
  statements: (dialect) => [
    `CREATE TABLE record_contracts (
      resource ${dialect.text} NOT NULL PRIMARY KEY,
      contract_version ${dialect.text} NOT NULL,
      digest ${dialect.text} NOT NULL,
      rendered_company ${dialect.text},
      rendered_id ${dialect.text},
      CHECK ((rendered_company IS NULL) = (rendered_id IS NULL))
    ) ${keyedTable(dialect)}`,
  ],
};
