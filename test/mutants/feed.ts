import type { Mutant } from './_mutant.ts';

const applying = ['test/server/feed/applying.test.ts'];
const fileFeed = ['test/server/backoffice/feed.test.ts'];
const companyData = ['test/server/features/companies/company-data-command.test.ts'];
const restore = ['test/server/commands/restore.test.ts'];

/** Changes that come in once and by those who may send them, and what is kept, put back and erased. */
export const feed: readonly Mutant[] = [
  {
    fault: 'a change with the id of an earlier one and other values is skipped',
    file: 'src/server/backoffice/earlier-changes.ts',
    from: 'earlier.change === name && earlier.contentDigest === contentDigest',
    to: 'earlier.change === name',
    tests: fileFeed,
  },
  {
    fault: 'a change that is repeated with its members in another order is refused',
    file: 'src/server/backoffice/earlier-changes.ts',
    from: 'Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))',
    to: 'Object.entries(value)',
    tests: fileFeed,
  },
  {
    fault: 'two changes of a source have the same place in its sequence',
    file: 'src/server/store/records/moves.ts',
    from: "'feed_positions.sequence', '<', sequence",
    to: "'feed_positions.sequence', '<=', sequence",
    tests: ['test/server/feed/sequences.test.ts'],
  },
  {
    fault: 'a time of the business system that is ahead gives records a time to come',
    file: 'src/server/backoffice/times.ts',
    from: 'new Date(Math.min(instant, now.getTime()))',
    to: 'new Date(instant)',
    tests: [...fileFeed, 'test/server/backoffice/move.test.ts'],
  },
  {
    fault: 'a feed token that was revoked in the middle of a batch goes on',
    file: 'src/server/backoffice/apply.ts',
    from: "  if (!company.isTokenLive) throw new AppError('revoked_key', 'This feed token was revoked.');\n",
    to: '',
    tests: applying,
  },
  {
    fault: 'imports that follow each other come into a company that the feed token is not for',
    file: 'src/server/backoffice/apply.ts',
    from: 'values.map((value) => checkedChange(value, sender))',
    to: 'values.map((value) => checkedChange(value, undefined))',
    tests: ['test/server/feed/applying.test.ts'],
  },
  {
    fault: 'an erased company can still be read in the file of the database',
    file: 'src/server/features/companies/erase.ts',
    from: 'administration.leavesTraces && isVacuumLater;',
    to: 'administration.leavesTraces;',
    tests: companyData,
  },
  {
    fault: 'a backup takes the place of a database that is in use',
    file: 'src/server/store/backup/backup.ts',
    from: 'return sizeOf(`${path}-wal`) === 0;',
    to: 'return true;',
    tests: ['test/server/store/backup/backup.test.ts'],
  },
  {
    fault: 'a restored database takes on the log of the one before',
    file: 'src/server/store/backup/restore.ts',
    from: "['', '-wal', '-shm', '-journal']",
    to: "['', '-journal']",
    tests: restore,
  },
  {
    fault: "a signing secret can be opened as that of another company's webhook",
    file: 'src/server/process/secret-box.ts',
    from: 'return `${company}\\n${id}`;',
    to: 'return `${company.slice(0, 0)}\\n${id}`;',
    tests: ['test/server/process/secret-box.test.ts'],
  },
];
