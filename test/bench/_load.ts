import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Requests that are sent as fast as they are answered. */
export interface Load {
  url: string;
  /** Asked for in turn, instead of the address's own. */
  paths?: readonly string[];
  headers: Record<string, string>;
  /** Kept alive, with one request under way on each. */
  connections: number;
  seconds: number;
}

/** The results of a load, by the status of the answers; times in milliseconds. */
export interface Loaded {
  /** Connections that broke, and requests without an answer. */
  errors: number;
  byStatus: Record<string, { count: number; perSecond: number; p50: number; p99: number; longest: number }>;
}

export interface Generator extends AsyncDisposable {
  run: (load: Load) => Promise<Loaded>;
}

/** Starts the load generator as a process of its own, to be used for one load after the other. */
export async function startGenerator(): Promise<Generator> {
  const child = fork(join(import.meta.dirname, '_generator.ts'), { env: { PATH: process.env.PATH } });
  await once(child, 'message');
  return {
    async run(load) {
      child.send(load);
      const [loaded] = (await once(child, 'message')) as [Loaded];
      return loaded;
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}
