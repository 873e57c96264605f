/* A process that makes companies in the database that its first argument names, and tells of each once it is committed. */
import { writeSync } from 'node:fs';

import { createCompany } from '../../src/access/companies.ts';
import { openEngine } from '../../src/store/engine.ts';

const engine = await openEngine(process.argv[2] ?? '');
for (let number = 0; ; number += 1) {
  const { id } = await createCompany(engine, `company-${number}`, {}, new Date());
  // Waits until the line is taken: `process.stdout` keeps lines to itself while a busy reader takes none.
  writeSync(1, `${id}\n`);
}
