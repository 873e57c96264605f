/* A process that makes companies in the database that its first argument names, and tells of each once it is committed. */
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';

const engine = await openEngine(process.argv[2] ?? '');
for (let number = 0; ; number += 1) {
  const { id } = await createCompany(engine, `company-${number}`, {}, new Date());
  await tell(`${id}\n`);
}

/** Waits until a line is taken: `process.stdout` keeps lines to itself while a busy reader takes none. */
async function tell(line: string): Promise<void> {
  for (;;) {
    try {
      writeSync(1, line);
      return;
    } catch (error) {
      // The pipe is full for the moment; of so short a line it takes all or nothing.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await pause(1);
    }
  }
}
