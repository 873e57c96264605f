import { Command } from 'commander';

import { describeConfig } from '../process/config.ts';
import { type Terminal, ReportedFailure } from '../../command-line/terminal.ts';

/** Builds `fieldledger config`, which lists every setting with its current value and meaning. */
export function configCommand(terminal: Terminal): Command {
  return new Command('config').description('list every setting and its value').action(() => {
    const settings = describeConfig(terminal.environment);
    const lines = settings.map(
      ({ name, value, problem, isDefault, help }) =>
        `${name}=${value}${isDefault ? '  (default)' : ''}\n    ${problem === null ? help : `WRONG: ${problem}`}`,
    );
    terminal.show(settings, lines.join('\n'));
    const wrong = settings.filter(({ problem }) => problem !== null).map(({ name }) => name);
    if (wrong.length === 0) return;
    terminal.tell(`fieldledger: These settings are wrong: ${wrong.join(', ')}.\n`);
    throw new ReportedFailure();
  });
}
