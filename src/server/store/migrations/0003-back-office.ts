import { keyedTable, type Migration } from './migration.ts';

/** The tables of moves beside the records: each company's clock, its number series, the changes it has applied, its logos. */
export const backOffice: Migration = {
  name: '0003-back-office',
  statements: (dialect) => {
    const { name, text, table } = dialect;
    const keyed = keyedTable(dialect);
    const milliseconds = name === 'sqlite' ? 'INTEGER' : 'BIGINT';
    return [
      // Apart from `companies`, because every move writes it and a company's row carries its profile.
      `CREATE TABLE company_clocks (
        company ${text} NOT NULL PRIMARY KEY REFERENCES companies (id),
        last_stamp_ms ${milliseconds} NOT NULL
      ) ${keyed}`,
      `CREATE TABLE served_clock (latest_ms ${milliseconds} NOT NULL) ${table}`,
      'INSERT INTO served_clock (latest_ms) VALUES (0)',
      `CREATE TABLE number_series (
        company ${text} NOT NULL REFERENCES companies (id),
        series ${text} NOT NULL,
        last_number INTEGER NOT NULL,
        PRIMARY KEY (company, series)
      ) ${keyed}`,
      `CREATE TABLE applied_changes (
        company ${text} NOT NULL REFERENCES companies (id),
        id ${text} NOT NULL,
        change ${text} NOT NULL,
        content_digest ${text} NOT NULL,
        PRIMARY KEY (company, id)
      ) ${keyed}`,
      `CREATE TABLE logos (
        company ${text} NOT NULL REFERENCES companies (id),
        sha256 ${text} NOT NULL,
        data_url ${text} NOT NULL,
        PRIMARY KEY (company, sha256)
      ) ${table}`,
    ];
  },
};
