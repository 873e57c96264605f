import { Parser } from 'tap-parser';
import type { Result } from 'tap-parser';

/**
 * Counts tests in the TAP that the runner writes. A test is a `t.test` without tests of its own inside it, which is one
 * sentence of the specification, however many assertions it makes. Whatever goes wrong outside of such a test (a file
 * that doesn't load, ends early, or runs out of time) is one failure of its own, so that nothing can break uncounted.
 */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Failure {
  path: string[];
  reason: string;
}

export interface FileTally extends Tally {
  name: string;
  /** Milliseconds from its start to its end, while others ran beside it. */
  ms: number;
  failures: Failure[];
}

/** The results that have been read of a test so far. */
interface Reading extends Tally {
  path: string[];
  /** Tests inside it that have ended. */
  tests: number;
  assertions: number;
  failures: Failure[];
  closed: Reading | undefined;
}

/** Reads the runner's TAP; `onFile` is told of every test file when it has ended. */
export function createTally(onFile: (file: FileTally) => void) {
  const total = startReading([]);
  const parser = new Parser();
  follow(parser, total, (file, ms) => onFile({ ...file, name: file.path.join(' '), ms }));
  parser.on('bailout', (reason: string) => {
    fail(total, `bailed out: ${reason}`);
  });
  /** The process has ended: a file that it was in the middle of never ends. */
  const end = () => {
    parser.end();
    abandon(total);
  };
  return { parser, total, end };
}

function startReading(path: string[]): Reading {
  return { path, tests: 0, assertions: 0, passed: 0, failed: 0, skipped: 0, failures: [], closed: undefined };
}

function follow(parser: Parser, reading: Reading, onClose?: (child: Reading, ms: number) => void): void {
  parser.on('child', (child: Parser) => {
    abandon(reading);
    const inner = startReading([...reading.path, child.name]);
    reading.closed = inner;
    follow(child, inner);
  });
  parser.on('assert', (result: Result) => {
    const { closed } = reading;
    if (!result.closingTestPoint || closed === undefined) {
      if (isSkipped(result)) reading.skipped += 1;
      else reading.assertions += 1;
      if (!result.ok && !isSkipped(result)) fail(reading, reasonOf(result));
      return;
    }
    reading.closed = undefined;
    abandon(closed);
    const reason = judge(closed, result);
    if (reason !== undefined) fail(closed, reason);
    // A failed test is one failure, whether one of its assertions failed or five.
    if (closed.tests === 0) closed.failed = Math.min(closed.failed, 1);
    add(reading, closed);
    onClose?.(closed, result.time ?? 0);
  });
}

/** A test that has no closing line when its file goes on or ends, because the process left in the middle of it. */
function abandon(reading: Reading): void {
  const { closed } = reading;
  if (closed === undefined) return;
  reading.closed = undefined;
  if (closed.failed === 0) fail(closed, 'never ended');
  add(reading, closed);
}

/** Counts a test by its closing line; what it returns is wrong with it beyond the assertions that failed. */
function judge(test: Reading, result: Result): string | undefined {
  // tap calls a file without tests skipped; it is a file that was meant to test something and doesn't.
  if (result.skip === 'no tests found') return 'no tests found';
  if (isSkipped(result)) test.skipped += 1;
  else if (!result.ok) return test.failed === 0 ? reasonOf(result) : undefined;
  else if (test.tests === 0 && test.assertions > 0) test.passed = 1;
  else if (test.tests === 0 && test.skipped === 0) return 'it asserts nothing';
  return undefined;
}

function add(reading: Reading, inner: Reading): void {
  reading.tests += 1;
  reading.passed += inner.passed;
  reading.failed += inner.failed;
  reading.skipped += inner.skipped;
  reading.failures.push(...inner.failures);
}

function fail(test: Reading, reason: string): void {
  test.failed += 1;
  test.failures.push({ path: test.path, reason });
}

function isSkipped(result: Result): boolean {
  return result.skip !== false || result.todo !== false;
}

interface Diagnosis {
  diff?: string;
  stack?: string;
  found?: unknown;
  wanted?: unknown;
  at?: { fileName?: string; lineNumber?: number };
  signal?: string | null;
  exitCode?: number | null;
}

function reasonOf(result: Result): string {
  const diagnosis = (result.diag ?? {}) as Diagnosis;
  const { diff, stack, at, found, wanted, signal, exitCode } = diagnosis;
  const place = at?.fileName === undefined ? '' : ` (${at.fileName}:${at.lineNumber ?? 0})`;
  const values =
    'found' in diagnosis ? `found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}` : '';
  const end = [signal && `ended by ${signal}`, exitCode && `exit code ${exitCode}`]
    .filter(Boolean)
    .join(', ');
  return [`${result.name}${place}`, diff ?? values, stack, end]
    .filter(Boolean)
    .map((part) => String(part).trimEnd())
    .join('\n');
}
