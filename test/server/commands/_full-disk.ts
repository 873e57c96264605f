import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const command = join(import.meta.dirname, '..', '..', '..', 'src', 'fieldledger.js');

/**
 * Runs a command line where no file may get larger than this, which is refused as it is on a full disk.
 * @param options `program` is what runs, unless it is the command `fieldledger`; `settings` are those of its environment.
 */
export async function runOnFullDisk(
  args: readonly string[],
  {
    home,
    kilobytes,
    program = command,
    settings = {},
  }: { home: string; kilobytes: number; program?: string; settings?: Record<string, string> },
): Promise<{ exitCode: number | null; stderr: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ...settings,
    // Node would end by the signal.
    OPTIONS: "--import=data:text/javascript,process.on('SIGXFSZ',()=>{})",
    // Its own files would get too large when it is ending, and no longer listens.
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
  // Set here: tap adds options to those of every process, by which it would write a file of its own at the end.
  const script = `ulimit -f ${kilobytes}; NODE_OPTIONS="$OPTIONS" exec "$@"`;
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
