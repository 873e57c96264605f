/* A process that takes the write lock of the SQLite file in its first argument, and keeps it until it is told to let go. */
import Database from 'better-sqlite3';

const database = new Database(process.argv[2] ?? '');
database.exec('BEGIN IMMEDIATE');
process.stdout.write('locked\n');
process.stdin.once('data', () => {
  database.exec('COMMIT');
  process.exit(0);
});
