import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const command = join(import.meta.dirname, '..', '..', 'src', 'fieldledger.js');

/**
 * Runs a command line where no file may get larger than this, which is refused as it is on a full disk.
 * @param options `program` is what runs, unless it is the command `fieldledger`.
 */
export async function runOnFullDisk(
  args: readonly string[],
  { home, kilobytes, program = command }: { home: string; kilobytes: number; program?: string },
): Promise<{ exitCode: number | null; stderr: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    // Node would end by the signal.
    NODE_OPTIONS: "--import=data:text/javascript,process.on('SIGXFSZ',()=>{})",
    // Its own files would get too large when it is ending, and no longer listens.
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
  const script = `ulimit -f ${kilobytes}; exec "$@"`;
  const child = spawn('bash', ['-c', script, 'bash', program, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [stderr, [exitCode]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { exitCode, stderr };
}
