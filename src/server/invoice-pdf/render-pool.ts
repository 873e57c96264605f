import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';

import { Tinypool } from 'tinypool';

import { type AppError, unavailable } from '../../errors.ts';
import type { Logger } from '../process/log.ts';
import { TOLERATE_MISSING_PROC } from '../process/memory-usage.ts';
import type { DocumentMetrics } from '../process/metrics.ts';
import type { Printed } from './printing.ts';
import type { Failure, PrintTask, WorkerAnswer } from './render-worker.ts';

/** On two cores the server keeps one for itself. */
const PROCESSES_MAX = availableParallelism() > 2 ? 2 : 1;
/** As many as a process prints in some ten seconds. */
const WAITING_MAX = 256;
const RETRY_SECONDS = 5;
/** A document takes hundredths of a second, and seconds on a machine whose cores are all busy. */
const DOCUMENT_MS_MAX = 30_000;
/** A process without work ends after ten minutes, which frees its memory. The next document waits for a new one. */
const IDLE_MS_MAX = 600_000;
/**
 * A document that needs more heap than the first ends its process, not the machine. Without the second, V8 makes so much
 * room for short-lived objects that the process takes 370 MB; with it, 190 MB in the same time.
 */
const PROCESS_OPTIONS = ['--max-old-space-size=384', '--max-semi-space-size=8'];

const ENDED_TWICE: { failure: Failure } = { failure: { name: 'ended two processes', frames: [] } };
const TOO_LATE: { failure: Failure } = { failure: { name: 'too late', frames: [] } };

/** Time before a document that ended two processes, or blocked one, is tried again. */
const PAUSE_MS = 60_000;

export interface RenderPoolOptions {
  databaseUrl: string;
  log: Logger;
  metrics: DocumentMetrics;
  /** The operator's accent colour, for drafts. */
  portalAccent?: string | undefined;
  processesMax?: number;
  waitingMax?: number;
  documentMsMax?: number;
}

/**
 * Prints documents in processes of the lowest priority, so that a burst of them doesn't slow the API down, and a fault in
 * one doesn't end the server. A process starts when a document is asked for, and prints one document at a time. When the
 * process ends, another one prints the document; a document that ends two processes, or takes too long, fails.
 */
export class RenderPool implements AsyncDisposable {
  readonly #options: Required<RenderPoolOptions>;
  readonly #processes: Tinypool;
  /**
   * Documents that wait for a process, by company; the company that comes first has the next turn. They wait here, so that
   * a document's time limit begins with its printing.
   */
  readonly #waiting = new Map<string, PromiseWithResolvers<undefined>[]>();
  /** Documents that aren't tried again before a time, in milliseconds. */
  readonly #paused = new Map<string, number>();
  #underWay = 0;
  #isClosed = false;

  constructor(options: RenderPoolOptions) {
    this.#options = {
      processesMax: PROCESSES_MAX,
      waitingMax: WAITING_MAX,
      documentMsMax: DOCUMENT_MS_MAX,
      portalAccent: undefined,
      ...options,
    };
    this.#processes = new Tinypool({
      filename: join(import.meta.dirname, `render-worker${extname(import.meta.url)}`),
      name: 'print',
      runtime: 'child_process',
      serialization: 'advanced',
      // Keeps the settings of PostgreSQL's client. Defined values are strings.
      env: process.env as Record<string, string>,
      execArgv: [...PROCESS_OPTIONS, ...TOLERATE_MISSING_PROC],
      minThreads: 0,
      maxThreads: this.#options.processesMax,
      idleTimeout: IDLE_MS_MAX,
    });
    // A process that ends while idle is no fault: the system may have stopped it with the server.
    this.#processes.on('error', (error: Error) =>
      options.log.info({ reason: error.message }, 'document.process-ended'),
    );
    options.metrics.watchWaiting(() => this.#waitingCount());
  }

  /**
   * Prints a document when it is its turn; companies take turns.
   * @throws AppError `unavailable` when too many documents wait already, and when it can't be printed; the log says why.
   */
  async print(company: string, id: string, statementOn?: string): Promise<Printed> {
    const { metrics } = this.#options;
    if (this.#isClosed || this.#isPaused(company, id) || !this.#hasPlace(company)) {
      metrics.refused();
      throw busy();
    }
    const askedAt = performance.now();
    await this.#turn(company);
    const printNow = () => this.#printNow({ company, id, statementOn });
    const answer = (await printNow()) ?? (await printNow()) ?? ENDED_TWICE;
    this.#giveTurn();
    const seconds = (performance.now() - askedAt) / 1000;
    if ('failure' in answer) throw this.#failed(company, id, answer.failure, seconds);
    metrics.printed(answer.printed.outcome, seconds);
    return answer.printed;
  }

  /** Whether another document of a company may wait. When all places are taken, the company with the most gives one up. */
  #hasPlace(company: string): boolean {
    if (this.#waitingCount() < this.#options.waitingMax) return true;
    const [most] = [...this.#waiting.values()].sort((a, b) => b.length - a.length);
    if (!most || most.length <= (this.#waiting.get(company)?.length ?? 0) + 1) return false;
    this.#options.metrics.refused();
    most.pop()?.reject(busy());
    return true;
  }

  #waitingCount(): number {
    return [...this.#waiting.values()].flat().length;
  }

  #isPaused(company: string, id: string): boolean {
    const now = performance.now();
    for (const [key, until] of this.#paused) if (until <= now) this.#paused.delete(key);
    return this.#paused.has(`${company} ${id}`);
  }

  async #turn(company: string): Promise<void> {
    if (this.#underWay < this.#options.processesMax) {
      this.#underWay += 1;
      return;
    }
    const turn = Promise.withResolvers<undefined>();
    this.#waiting.set(company, [...(this.#waiting.get(company) ?? []), turn]);
    await turn.promise;
  }

  #giveTurn(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#underWay -= 1;
      return;
    }
    const [company, [turn, ...others]] = next;
    this.#waiting.delete(company);
    if (others.length > 0) this.#waiting.set(company, others);
    turn?.resolve(undefined);
  }

  /** @returns undefined when the process ended, perhaps by a signal that it got just before the document. */
  async #printNow(
    document: Pick<PrintTask, 'company' | 'id' | 'statementOn'>,
  ): Promise<WorkerAnswer | undefined> {
    if (this.#isClosed) throw busy();
    const { databaseUrl, documentMsMax, portalAccent: accent } = this.#options;
    const signal = AbortSignal.timeout(documentMsMax);
    const task: PrintTask = { ...document, databaseUrl, accent };
    try {
      return (await this.#processes.run(task, { signal })) as WorkerAnswer;
    } catch (error) {
      // The process catches its own errors: this one is tinypool's, whose messages say what happened to the process.
      if (!signal.aborted) {
        this.#options.log.info({ reason: (error as Error).message }, 'document.process-ended');
        return undefined;
      }
      // tinypool has ended the process, unless it hangs while it starts, when it has no document yet.
      this.#processes.recycleWorkers().catch(() => undefined);
      return TOO_LATE;
    }
  }

  /** Logs and counts a failure, unless the pool's end caused it. */
  #failed(company: string, id: string, failure: Failure, seconds: number): AppError {
    if (!this.#isClosed) {
      if ([TOO_LATE.failure, ENDED_TWICE.failure].includes(failure)) {
        this.#paused.set(`${company} ${id}`, performance.now() + PAUSE_MS);
      }
      this.#options.metrics.printed('failed', seconds);
      this.#options.log.error({ company, document: id, failure }, 'document.failed');
    }
    return busy();
  }

  /** Ends the processes. A document that is being printed gets a second to be finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const turn of [...this.#waiting.values()].flat()) turn.reject(busy());
    this.#waiting.clear();
    // tinypool lets this process end before them, and so before what is closed after them.
    for (const worker of this.#processes.threads) worker.ref?.();
    await this.#processes.destroy();
  }
}

function busy(): AppError {
  return unavailable({ retryAfterSeconds: RETRY_SECONDS });
}
