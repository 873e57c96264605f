import type { Command } from 'commander';

import type { Engine } from '../store/engines/engine.ts';
import type { Finding } from '../store/verify/findings.ts';
import { verifyStore } from '../store/verify/verify.ts';
import { DatabaseCommand } from '../cli/database-command.ts';
import { showProgress, withProgress } from '../../command-line/progress.ts';
import { type Terminal, ReportedFailure } from '../../command-line/terminal.ts';

const FINDINGS_SHOWN_MAX = 100;

/** Builds `fieldledger verify`, which checks the store for errors. */
export function verifyCommand(terminal: Terminal): Command {
  return new DatabaseCommand('verify', terminal)
    .description('check all that the database holds, while it is in use')
    .inDatabase(async ({ engine }) => {
      const result = await verify(engine);
      terminal.show(result, proseOf(result));
      if (result.problemCount > 0 || result.stopped !== null) throw new ReportedFailure();
    });
}

interface Result {
  rowCount: number;
  problemCount: number;
  problems: Finding[];
  seconds: number;
  /** The signal that ended the check early; null if none did. */
  stopped: string | null;
}

async function verify(engine: Engine): Promise<Result> {
  const startedAt = performance.now();
  const problems: Finding[] = [];
  let problemCount = 0;
  const onFinding = (finding: Finding) => {
    problemCount += 1;
    if (problems.length < FINDINGS_SHOWN_MAX) problems.push(finding);
  };
  const { rowCount, stopped } = await withProgress(showProgress('rows'), async (bar, signal) => {
    const looked = await verifyStore(engine, { signal, onProgress: bar.update, onFinding });
    return { ...looked, stopped: signal.aborted ? String(signal.reason) : null };
  });
  const seconds = Math.round(performance.now() - startedAt) / 1000;
  return { rowCount, problemCount, problems, seconds, stopped };
}

function proseOf({ rowCount, problemCount, problems, seconds, stopped }: Result): string {
  const count = (value: number) => value.toLocaleString('en');
  const lines = problems.map(
    ({ in: where, company, id, problem }) =>
      `${[where, company, id].filter((part) => part !== null).join(' ')}: ${problem}`,
  );
  if (problemCount > problems.length) lines.push(`... and ${count(problemCount - problems.length)} more`);
  const found =
    problemCount === 0
      ? 'nothing is wrong'
      : `${count(problemCount)} ${problemCount === 1 ? 'problem' : 'problems'}`;
  const end = stopped === null ? '' : `; stopped by ${stopped} before the end`;
  return [...lines, `${count(rowCount)} rows: ${found}, in ${seconds.toFixed(1)} s${end}`].join('\n');
}
