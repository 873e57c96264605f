import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { AppError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { DocumentMetrics } from '../metrics.ts';
import type { Printed } from './printing.ts';
import type { WorkerAnswer, WorkerMessage } from './render-worker.ts';

/** One is enough where there are few cores: the server needs one for itself. */
const WORKERS_MAX = availableParallelism() > 2 ? 2 : 1;
/** As many as take less than half a minute. Who comes later is told to come again. */
const WAITING_MAX = 256;
const RETRY_SECONDS = 5;
/** A document takes hundredths of a second, the largest some tenths, on a busy machine more; what takes longer never ends. */
const DOCUMENT_MS_MAX = 30_000;
/** A worker that dies may have been killed by somebody; a document that kills two is to blame itself. */
const ATTEMPTS_MAX = 2;
/**
 * Between two documents, while others wait, a process rests for so many times as long as the first one took, so that
 * hardly any read of a record meets one that is being printed. On a usual core it prints some ten in a second; a key may
 * ask for two (service.md, "Limits").
 */
const REST_TIMES = 6;
const REST_MS_MAX = 250;
/** A process that gives way and takes longer has got no turn, or has such a document as few companies ever have. */
const STARVED_MS = 3_000;
/** After which it is tried again whether the others leave time enough. */
const PRESSED_MS = 300_000;
const END_MS_MAX = 2_000;

/**
 * A heap beyond the first is a fault of the document, and ends the worker instead of the machine. Left to itself, V8
 * makes room for so much that dies young that the process takes 370 MB, and with this 190 MB, in the same time. Threads
 * that collect and compile beside it would take the other core from the API, for thousandths of a second each.
 */
const WORKER_OPTIONS = ['--max-old-space-size=384', '--max-semi-space-size=8', '--single-threaded'];

export interface RenderPoolOptions {
  databaseUrl: string;
  log: Logger;
  metrics: DocumentMetrics;
  workersMax?: number;
  waitingMax?: number;
  documentMsMax?: number;
  starvedMs?: number;
}

interface Task {
  company: string;
  id: string;
  askedAt: number;
  attempts: number;
  resolve: (printed: Printed) => void;
  reject: (error: AppError) => void;
}

interface Worker {
  child: ChildProcess;
  task: Task | undefined;
  givenAt: number;
  /** Of the document's limit, and then of the rest after it. */
  timer: NodeJS.Timeout | undefined;
  isResting: boolean;
  hasPrinted: boolean;
  /** Whether it runs only where no other process wants to; once it does, it always does. */
  givesWay: boolean;
  isLate: boolean;
}

/**
 * Prints documents in processes of the lowest priority: a burst of them must not make the API slow. Worker threads would
 * have the priority of the server, share its memory, and end it when they break. A process is started when the first
 * document is asked for, and prints one at a time. After the first, for which somebody waits longest, it gives way to all
 * other processes. Where it gets no turn then, others take its place that don't.
 */
export class RenderPool implements AsyncDisposable {
  readonly #options: Required<RenderPoolOptions>;
  readonly #workers = new Set<Worker>();
  /** Those that have got no turn, and end when they get one. */
  readonly #leaving = new Set<Worker>();
  readonly #waiting: Task[] = [];
  /** Until when no process begins to give way. */
  #pressedUntil = 0;
  #isClosed = false;

  constructor(options: RenderPoolOptions) {
    this.#options = {
      workersMax: WORKERS_MAX,
      waitingMax: WAITING_MAX,
      documentMsMax: DOCUMENT_MS_MAX,
      starvedMs: STARVED_MS,
      ...options,
    };
    options.metrics.watchWaiting(() => this.#waiting.length);
  }

  /**
   * Prints a document when it is its turn.
   * @throws AppError `unavailable` when too many wait already, and when it can't be printed, which the log tells.
   */
  async print(company: string, id: string): Promise<Printed> {
    if (this.#isClosed || this.#waiting.length >= this.#options.waitingMax) {
      this.#options.metrics.refused();
      throw unavailable(RETRY_SECONDS);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ company, id, askedAt: performance.now(), attempts: 0, resolve, reject });
      this.#handOut();
    });
  }

  /** The processes that are running. */
  pids(): number[] {
    return [...this.#workers].flatMap(({ child: { pid } }) => pid ?? []);
  }

  #handOut(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#idleWorker();
      const task = worker && this.#waiting.shift();
      if (!task) return;
      this.#give(worker, task);
    }
  }

  #idleWorker(): Worker | undefined {
    const idle = [...this.#workers].find(({ task, isResting }) => !task && !isResting);
    if (idle) return idle;
    return this.#workers.size < this.#options.workersMax ? this.#startWorker() : undefined;
  }

  #startWorker(): Worker {
    const child = fork(join(import.meta.dirname, 'render-worker.ts'), {
      execArgv: WORKER_OPTIONS,
      serialization: 'advanced',
      // What a library writes there may quote the document.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const worker: Worker = {
      child,
      task: undefined,
      givenAt: 0,
      timer: undefined,
      isResting: false,
      hasPrinted: false,
      givesWay: false,
      isLate: false,
    };
    this.#workers.add(worker);
    child.on('message', (answer: WorkerAnswer) => this.#takeAnswer(worker, answer));
    child.once('exit', (code, signal) => this.#replace(worker, signal ?? `exit code ${code}`));
    child.on('error', (error: NodeJS.ErrnoException) => {
      // One that never ran has no end of which it could be told.
      if (child.pid === undefined) this.#replace(worker, error.code ?? error.name);
    });
    tell(child, { databaseUrl: this.#options.databaseUrl });
    return worker;
  }

  #give(worker: Worker, task: Task): void {
    const { documentMsMax, starvedMs } = this.#options;
    task.attempts += 1;
    worker.task = task;
    worker.givenAt = performance.now();
    worker.givesWay ||= worker.hasPrinted && worker.givenAt >= this.#pressedUntil;
    worker.timer = worker.givesWay
      ? setTimeout(() => this.#press(), starvedMs)
      : setTimeout(() => {
          worker.isLate = true;
          worker.child.kill('SIGKILL');
        }, documentMsMax);
    tell(worker.child, { company: task.company, id: task.id, givesWay: worker.givesWay });
  }

  /** Other processes leave no time: what those have begun that give way is printed by such as don't. */
  #press(): void {
    this.#pressedUntil = performance.now() + PRESSED_MS;
    for (const worker of [...this.#workers]) {
      if (worker.givesWay) this.#dismiss(worker);
    }
  }

  /** A process without a turn takes seconds to die, with all that it has locked: better it ends by itself. */
  #dismiss(worker: Worker): void {
    const { child, task } = worker;
    if (task) task.attempts -= 1;
    this.#leaving.add(worker);
    const kill = setTimeout(() => child.kill('SIGKILL'), this.#options.documentMsMax);
    child.once('exit', () => {
      clearTimeout(kill);
      this.#leaving.delete(worker);
    });
    if (child.connected) child.disconnect();
    this.#replace(worker, 'starved');
  }

  #takeAnswer(worker: Worker, answer: WorkerAnswer): void {
    const { task } = worker;
    clearTimeout(worker.timer);
    worker.task = undefined;
    worker.hasPrinted = true;
    if (task && 'printed' in answer) {
      this.#options.metrics.printed(answer.printed.outcome, secondsSince(task.askedAt));
      task.resolve(answer.printed);
    } else if (task && 'failure' in answer) {
      this.#fail(task, answer.failure);
    }
    if (this.#waiting.length > 0) this.#rest(worker);
  }

  #rest(worker: Worker): void {
    worker.isResting = true;
    worker.timer = setTimeout(
      () => {
        worker.isResting = false;
        this.#handOut();
      },
      Math.min(REST_TIMES * (performance.now() - worker.givenAt), REST_MS_MAX),
    );
  }

  /** A worker has ended, or is left to do so; another one takes its place when there is something to do. */
  #replace(worker: Worker, ending: string): void {
    if (!this.#workers.delete(worker)) return;
    clearTimeout(worker.timer);
    const { task, isLate } = worker;
    worker.task = undefined;
    if (this.#isClosed) return;
    this.#options.log.warn({ pid: worker.child.pid, ending }, 'document.worker-ended');
    if (task && !isLate && task.attempts < ATTEMPTS_MAX) this.#waiting.unshift(task);
    else if (task) this.#fail(task, { name: isLate ? 'too late' : ending, frames: [] });
    this.#handOut();
  }

  #fail(task: Task, failure: { name: string; frames: readonly string[] }): void {
    const { company, id: document } = task;
    this.#options.metrics.printed('failed', secondsSince(task.askedAt));
    this.#options.log.error({ company, document, failure }, 'document.failed');
    task.reject(unavailable(RETRY_SECONDS));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const unfinished = [...this.#waiting.splice(0), ...[...this.#workers].flatMap(({ task }) => task ?? [])];
    for (const task of unfinished) task.reject(unavailable(RETRY_SECONDS));
    await Promise.all([...this.#workers, ...this.#leaving].map(endWorker));
  }
}

/** Lets a worker end by itself, for a while: it may be in the middle of a document that nobody wants any more. */
async function endWorker({ child, timer }: Worker): Promise<void> {
  clearTimeout(timer);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  if (child.connected) child.disconnect();
  const kill = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
  await exited;
  clearTimeout(kill);
}

function tell(child: ChildProcess, message: WorkerMessage): void {
  // One that has ended says so itself.
  if (child.connected) child.send(message, () => undefined);
}

function unavailable(retryAfterSeconds: number): AppError {
  return new AppError('unavailable', 'The service is temporarily unavailable. Retry shortly.', {
    retryAfterSeconds,
  });
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}
