import { type ExecFileException, execFile } from 'node:child_process';
import { join } from 'node:path';

const redocly = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'redocly');

/** The invoice of the contract's own example, and times within the year of the examples. */
const inputs = {
  since: '2026-10-15T00:00:00.000Z',
  invoiceId: '01a0a486-e8e0-7076-ace5-e31611d48e0a',
  lastEventAt: '2026-11-01T00:00:00.000Z',
};

/** Workflows that others call, and that aren't run by themselves. */
export const calledWorkflows = ['rest-of-jobs', 'rest-of-invoices', 'rest-of-changed-invoices'];

/**
 * Runs workflows as integrators run them, in one process of `redocly respect`.
 * @param addresses of the documents, as a server publishes them.
 * @param party the base address that is asked, and the key.
 */
export async function runWorkflows(
  addresses: string[],
  party: { url: string; key: string },
): Promise<{ exitCode: unknown; said: string }> {
  const skipped = calledWorkflows.flatMap((name) => ['--skip', name]);
  const env = {
    PATH: process.env.PATH,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    REDOCLY_CLI_RESPECT_INPUT: JSON.stringify({ apiKey: party.key, ...inputs }),
  };
  return new Promise((resolve) => {
    const args = [redocly, 'respect', ...addresses, '--server', `api=${party.url}`, ...skipped];
    execFile(process.execPath, args, { env }, (error: ExecFileException | null, stdout, stderr) =>
      resolve({ exitCode: error?.code ?? 0, said: `${stdout}${stderr}` }),
    );
  });
}
