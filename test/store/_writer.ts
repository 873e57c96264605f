/* A process that makes companies in the database that its first argument names, and tells of each once it is committed. */
import { createCompany } from '../../src/access/companies.ts';
import { openEngine } from '../../src/store/engine.ts';

const engine = await openEngine(process.argv[2] ?? '');
for (let number = 0; ; number += 1) {
  const { id } = await createCompany(engine, `company-${number}`, {}, new Date());
  process.stdout.write(`${id}\n`);
}
