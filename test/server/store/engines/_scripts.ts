import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { until } from '../../../_command.ts';

/** Starts a script beside this file, with the output that it has given so far. */
export function startScript(name: string, argument: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, name), argument], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(child, 'close');
  return {
    child,
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Has another process take the write lock of a database. */
export async function holdLock(url: string) {
  const holder = startScript('_lock-holder.ts', url.slice('sqlite:'.length));
  await until(() => holder.output() === 'locked\n');
  return { ...holder, letGo: () => holder.child.stdin.write('\n') };
}
