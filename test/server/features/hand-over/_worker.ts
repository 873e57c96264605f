/*
 * A process that issues some invoices and hands documents over to a folder, which a test kills. Its clock runs quickly from a moment on.
 * It writes a line when it has issued its first invoice, and ends at SIGTERM, or with the test.
 */
import type { Invoice } from '../../../../src/contract/records.ts';
import { applyChange } from '../../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../../src/server/backoffice/backoffice.ts';
import { createAccessPoint } from '../../../../src/server/features/hand-over/access-point.ts';
import { handOverDocuments } from '../../../../src/server/features/hand-over/handing-over.ts';
import { createLogger } from '../../../../src/server/process/log.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { keepDoing } from '../../../../src/server/process/repeating.ts';
import { invoiceDraft, issue, line } from '../../backoffice/_documents.ts';

/** A lease of a minute passes in a fifth of a second, and so does the first wait. */
const SPEED = 300;

const [databaseUrl = '', company = '', folder = '', invoiceCount, start] = process.argv.slice(2);
const startMs = Number(start);
const now = () => new Date(startMs + (Date.now() - startMs) * SPEED);
const engine = await openEngine(databaseUrl);
const accessPoint = createAccessPoint({ folder, serviceName: 'Acme' }, undefined as never);
if (!accessPoint) throw new Error('No access point is given.');
const means = { engine, accessPoint, log: createLogger('silent'), now };
const onError = (error: unknown) => void process.stderr.write(`${String(error)}\n`);
const handing = keepDoing((signal) => handOverDocuments(means, signal), { everyMs: 10, onError });
process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGKILL'));
process.once('SIGTERM', () => {
  process.stdin.destroy();
  void (async () => {
    for (const part of [handing, accessPoint, engine]) await part[Symbol.asyncDispose]();
  })();
});
const backoffice = openBackoffice(engine, { now });
const draft = invoiceDraft({ lines: Array.from({ length: 60 }, () => line()) });
for (let made = 0; made < Number(invoiceCount); made += 1) {
  const { record } = await applyChange(backoffice, { company, ...draft });
  const { id } = JSON.parse(record ?? '') as Invoice;
  await applyChange(backoffice, { company, ...issue(id) });
  if (made === 0) process.stdout.write('working\n');
}
