/*
 * Adds batches of a job to a copy in JSON Lines, as a process of its own, and prints the error that ends it. Its
 * arguments are the folder and how many batches.
 */
import { openJsonLinesCopy } from '../../src/client/sync/json-lines.ts';
import { company } from '../contract/_company.ts';

const [folder = '', count = '0'] = process.argv.slice(2);
const copy = openJsonLinesCopy(folder, { source: 'brennan at https://api.fieldledger.example' });
try {
  for (let batch = 0; batch < Number(count); batch += 1)
    await copy.commit({
      resource: 'jobs',
      put: company.jobs.slice(0, 1),
      remove: [],
      state: { jobs: { checkpoint: `${process.pid} ${batch}` } },
    });
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}
