import { Command } from 'commander';

import { describeConfig } from '../config.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** `fieldledger config`: every setting, its value here, and what it means. */
export function configCommand(terminal: Terminal): Command {
  return new Command('config').description('list every setting and its value').action(() => {
    const settings = describeConfig(terminal.environment);
    const lines = settings.map(
      ({ name, value, isDefault, help }) => `${name}=${value}${isDefault ? '  (default)' : ''}\n    ${help}`,
    );
    terminal.show(settings, lines.join('\n'));
  });
}
