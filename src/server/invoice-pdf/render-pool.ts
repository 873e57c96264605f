import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';

import { Tinypool } from 'tinypool';

import { type AppError, unavailable, UsageError } from '../../errors.ts';
import type { Logger } from '../process/log.ts';
import { TOLERATE_MISSING_PROC } from '../process/memory-usage.ts';
import type { DocumentMetrics } from '../process/metrics.ts';
import type { Print, Printed } from './printing.ts';
import type { Failure, PrintTask, WorkerAnswer } from './render-worker.ts';

/** The most printing processes; on two cores, one core is left for the server. */
const PROCESSES_MAX = availableParallelism() > 2 ? 2 : 1;
/** The most waiting documents, which a process prints in some ten seconds. */
const WAITING_MAX = 256;
const RETRY_SECONDS = 5;
/** The time limit for a document, which usually takes hundredths of a second, and seconds on a busy machine. */
const DOCUMENT_MS_MAX = 30_000;
/** The time after which an idle process ends, to free its memory; the next document then waits for a new process. */
const IDLE_MS_MAX = 600_000;
/**
 * Memory limits of a process. A document that exceeds the first ends only its process. The second limits the space for
 * short-lived objects: the process takes 190 MB instead of 370 MB, at the same speed.
 */
const PROCESS_OPTIONS = ['--max-old-space-size=384', '--max-semi-space-size=8'];

const ENDED_TWICE: { failure: Failure } = { failure: { name: 'ended two processes', frames: [] } };
const TOO_LATE: { failure: Failure } = { failure: { name: 'too late', frames: [] } };

/** The time before a document that ended two processes, or blocked one, can be tried again. */
const PAUSE_MS = 60_000;

export interface RenderPoolOptions {
  databaseUrl: string;
  log: Logger;
  metrics: DocumentMetrics;
  /** The operator's accent colour, for drafts and statements of account. */
  portalAccent?: string | undefined;
  /** The folder of the operator's template; Fieldledger's own if undefined. */
  documentTemplate?: string | undefined;
  processesMax?: number;
  waitingMax?: number;
  documentMsMax?: number;
}

/**
 * A pool of lowest-priority processes that print documents, so that a burst doesn't slow down the API, and a crash doesn't
 * end the server. A process starts on demand, and prints one document at a time. If it ends, another process prints the
 * document; a document that ends two processes, or exceeds the time limit, fails.
 */
export class RenderPool implements AsyncDisposable {
  readonly #options: Required<RenderPoolOptions>;
  readonly #processes: Tinypool;
  /**
   * Documents waiting for a process, by company; the first company has the next turn. They wait here, so that a
   * document's time limit starts with its printing.
   */
  readonly #waiting = new Map<string, PromiseWithResolvers<undefined>[]>();
  /** Paused documents, each with the time in milliseconds before which it isn't tried again. */
  readonly #paused = new Map<string, number>();
  #underWay = 0;
  #isClosed = false;

  constructor(options: RenderPoolOptions) {
    this.#options = {
      processesMax: PROCESSES_MAX,
      waitingMax: WAITING_MAX,
      documentMsMax: DOCUMENT_MS_MAX,
      portalAccent: undefined,
      documentTemplate: undefined,
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
    // An idle process that ends isn't an error: the system may have stopped it with the server.
    this.#processes.on('error', (error: Error) =>
      options.log.info({ reason: error.message }, 'document.process-ended'),
    );
    options.metrics.watchWaiting(() => this.#waitingCount());
  }

  /**
   * Prints a document in its turn; companies take turns.
   * @throws AppError `unavailable` when too many documents are waiting, or when printing fails; the log says why.
   */
  async print(...asked: Parameters<Print>): Promise<Printed> {
    const { metrics } = this.#options;
    const [company, id] = asked;
    if (this.#isClosed || this.#isPaused(company, id) || !this.#hasPlace(company)) {
      metrics.refused();
      throw busy();
    }
    const askedAt = performance.now();
    await this.#turn(company);
    const answer = (await this.#printNow(asked)) ?? (await this.#printNow(asked)) ?? ENDED_TWICE;
    this.#giveTurn();
    const seconds = (performance.now() - askedAt) / 1000;
    if ('failure' in answer) throw this.#failed(company, id, answer.failure, seconds);
    metrics.printed(answer.printed.outcome, seconds);
    return answer.printed;
  }

  /** Tries the operator's template, if there is one. @throws UsageError like `openRenderer`. */
  async tryTemplate(): Promise<void> {
    const { documentTemplate: template, documentMsMax } = this.#options;
    if (template === undefined) return;
    const signal = AbortSignal.timeout(documentMsMax);
    const problem = (await this.#processes.run(template, { name: 'tryTemplate', signal })) as
      string | undefined;
    if (problem !== undefined) throw new UsageError(problem);
  }

  /** Whether another document of a company can wait. When all places are taken, the company with the most loses one. */
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

  /** @returns undefined when the process ended, for example from a signal just before it received the document. */
  async #printNow(asked: Parameters<Print>): Promise<WorkerAnswer | undefined> {
    if (this.#isClosed) throw busy();
    const { databaseUrl, documentMsMax, portalAccent: accent, documentTemplate: template } = this.#options;
    const signal = AbortSignal.timeout(documentMsMax);
    const task: PrintTask = { asked, databaseUrl, accent, template };
    try {
      return (await this.#processes.run(task, { signal })) as WorkerAnswer;
    } catch (error) {
      // The process catches its own errors, so this one is tinypool's, whose message describes the fate of the process.
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

  /** Ends the processes. A document being printed gets a second to finish. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const turn of [...this.#waiting.values()].flat()) turn.reject(busy());
    this.#waiting.clear();
    // Without `ref`, this process could end before them, and so before anything that is closed after them.
    for (const worker of this.#processes.threads) worker.ref?.();
    await this.#processes.destroy();
  }
}

function busy(): AppError {
  return unavailable({ retryAfterSeconds: RETRY_SECONDS });
}
