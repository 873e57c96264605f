import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { Test } from 'tap';

import { exampleSecret } from '../../../src/contract/examples.ts';
import { until } from '../../_command.ts';

export type Program = readonly [command: string, file: string];

/** Starts a receiver that knows the test vector's secret, and waits until it listens. It ends with the test at the latest. */
export async function startReceiver(
  t: Test,
  [command, file]: Program,
  environment: Record<string, string>,
): Promise<{ port: string; kill: () => Promise<void> }> {
  // As files and settings have secrets that were written on Windows, or by Kubernetes.
  const { API_KEY, ...others } = environment;
  const secrets = { WEBHOOK_SECRET: `${exampleSecret()}\r\n`, ...(API_KEY && { API_KEY: `${API_KEY}\n` }) };
  const env = { PATH: process.env.PATH, PORT: '0', ...secrets, ...others };
  const child = spawn(command, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const portIn = () => /port:? (\d+)/.exec(said)?.[1];
  await until(() => portIn() !== undefined);
  return {
    port: portIn() ?? '',
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
