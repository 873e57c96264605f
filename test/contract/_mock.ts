import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Mock extends AsyncDisposable {
  url: string;
}

const root = join(import.meta.dirname, '..', '..');

/** Starts Prism as `make mock` does, but on a free port, and of another document when one is given. */
export async function startMock(document?: string): Promise<Mock> {
  const makefile = readFileSync(join(root, 'Makefile'), 'utf8');
  const [, own, options] = /\/prism mock (\S+) (.+) --port \d+$/m.exec(makefile) ?? [];
  if (own === undefined || options === undefined)
    throw new Error('The Makefile starts no `prism mock FILE ... --port N`.');
  const cli = join(root, 'node_modules', '.bin', 'prism');
  const prism = spawn(
    process.execPath,
    [cli, 'mock', document ?? own, ...options.split(' '), '--port', '0'],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(prism, 'exit');
  const said: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    const lines = createInterface(prism.stdout);
    lines.on('line', (line) => {
      said.push(line);
      const [, address] = /Prism is listening on (http:\/\/\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    lines.on('close', () => {
      reject(new Error(`Prism did not start:\n${said.join('\n')}`));
    });
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      prism.kill();
      await ended;
    },
  };
}
