import { destination, pino, stdTimeFunctions } from 'pino';

/** A logger of JSON lines. */
export interface Logger extends pino.Logger {
  /**
   * Logs a line of level `info` as `info` does, for what is logged with every request and every attempt: pino goes
   * through a line member by member, which takes twice as long as the rest of the way to the file.
   */
  line: (members: object, name: string) => void;
}

/**
 * Lines are made and written together: one by one they cost a busy server a tenth of its time, most of it because each
 * finds nothing of what it needs in the processor's caches. A process that is killed loses what it logged within the
 * last tenth of a second.
 */
const TOGETHER = 64;
const TOGETHER_MS = 100;
/** Of lines that nobody takes no more than this is kept. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Logs JSON lines to standard error, so that standard output is a command's own. Lines are wide, their names
 * `noun.past-verb`, and they never hold a key, a secret, a body or a header's value.
 */
export function createLogger(level: string): Logger {
  const add = createBatches();
  const write = (line: string) => add(() => line);
  const logger = pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, { write });
  const line = (members: object, name: string) => {
    if (!logger.isLevelEnabled('info')) return;
    const atMs = Date.now();
    add(() => textOf(atMs, members, name));
  };
  return Object.assign(logger, { line });
}

/** The time of the last line, as it is written: on a busy server the next one mostly has the same. */
let writtenMs = 0;
let writtenTime = '';

/** What pino would make of the same. There is a member at least. */
function textOf(atMs: number, members: object, name: string): string {
  if (atMs !== writtenMs) {
    writtenMs = atMs;
    writtenTime = new Date(atMs).toISOString();
  }
  const head = `{"level":${pino.levels.values.info},"time":"${writtenTime}"`;
  return `${head},${JSON.stringify(members).slice(1, -1)},"msg":${JSON.stringify(name)}}\n`;
}

/** Collects lines, and makes and hands them over together. */
function createBatches(): (line: () => string) => void {
  let lines: (() => string)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let output: ReturnType<typeof destination> | undefined;
  const handOver = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = lines.map((line) => line()).join('');
    lines = [];
    output?.write(text);
  };
  const open = () => {
    const opened = destination({ dest: 2, sync: false, maxLength: WAITING_BYTES_MAX });
    // What goes on without its log says so to nobody: a full disk, or a terminal that is gone. The next line is tried with
    // what waits; only the end of the process must not wait for what may never be taken.
    const flushSync = opened.flushSync.bind(opened);
    let isTaken = true;
    opened.flushSync = () => (isTaken ? flushSync() : undefined);
    opened.on('error', () => {
      isTaken = false;
    });
    opened.on('write', () => {
      isTaken = true;
    });
    // A process that ends by itself has handed everything over by then: the timer holds it until it has.
    process.once('exit', () => {
      if (lines.length === 0) return;
      handOver();
      opened.flushSync();
    });
    return opened;
  };
  return (line) => {
    output ??= open();
    lines.push(line);
    if (lines.length >= TOGETHER) handOver();
    else timer ??= setTimeout(handOver, TOGETHER_MS);
  };
}
