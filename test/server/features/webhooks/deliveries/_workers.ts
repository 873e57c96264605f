import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

import { authority, type Receiver, startHttpsReceiver } from '../../../sending/_receivers.ts';

export interface WorkerSettings {
  databaseUrl: string;
  port: number;
  ca: string;
  deadlineMs: number;
  /** As time really passes. */
  leaseMs: number;
  concurrencyMax: number;
  /** The clock of everybody in the test runs so much faster than time, from one moment on. */
  speed: number;
  startMs: number;
}

/** A clock on which the hours of the schedule are moments. */
export function quickClock({ speed, startMs }: Pick<WorkerSettings, 'speed' | 'startMs'>): () => Date {
  return () => new Date(startMs + (Date.now() - startMs) * speed);
}

/** Starts a worker and waits until it works. */
export async function startWorker(settings: WorkerSettings): Promise<ChildProcess> {
  const script = join(import.meta.dirname, '_worker.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new AbortController();
  const fail = () => ended.abort(new Error('The worker ended before it worked.'));
  child.once('exit', fail);
  await once(child.stdout, 'data', { signal: ended.signal });
  child.off('exit', fail);
  return child;
}

export async function endWorker(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

export interface Ledger {
  /** Requests for each delivery, and of those the ones that were answered with 200. */
  requests: Map<string, number>;
  accepted: Map<string, number>;
  /** Requests whose header and body name different deliveries. */
  mismatches: number;
}

/** A receiver that answers as chance has it, until it has refused a delivery twice; it keeps a ledger. */
export async function startFickleReceiver(): Promise<Receiver & { ledger: Ledger }> {
  const ledger: Ledger = { requests: new Map(), accepted: new Map(), mismatches: 0 };
  const add = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
  const receiver = await startHttpsReceiver((req, res) => {
    void bodyOf(req).then((body) => {
      const id = String(req.headers['service-delivery']);
      // It was sent by the loop.
      if ((JSON.parse(body) as { id: string }).id !== id) ledger.mismatches += 1;
      add(ledger.requests, id);
      const chance = (ledger.requests.get(id) ?? 0) > 2 ? 1 : Math.random();
      misbehave(res, chance, () => add(ledger.accepted, id));
    });
  });
  return { ...receiver, ledger };
}

function misbehave(res: ServerResponse, chance: number, accept: () => void): void {
  if (chance < 0.1) {
    res.writeHead(500).end();
  } else if (chance < 0.2) {
    res.socket?.destroy();
  } else if (chance < 0.25) {
    // Never: the sender gives up.
  } else if (chance < 0.45) {
    setTimeout(() => {
      accept();
      res.writeHead(200).end();
    }, 50);
  } else {
    accept();
    res.writeHead(200).end();
  }
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += String(chunk);
  return text;
}

export const { ca } = authority;
