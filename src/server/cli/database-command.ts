import { Command } from 'commander';

import type { Terminal } from '../../command-line/terminal.ts';
import type { Config } from '../process/config.ts';
import type { Engine } from '../store/engines/engine.ts';
import { withDatabase } from './database.ts';

/** A command that uses the configured database, or a group of such commands. */
export class DatabaseCommand extends Command {
  readonly #terminal: Terminal;

  constructor(name: string | undefined, terminal: Terminal) {
    super(name);
    this.#terminal = terminal;
  }

  override createCommand(name?: string): DatabaseCommand {
    return new DatabaseCommand(name, this.#terminal);
  }

  /** Sets the command's action. @param work receives the opened database, then the command's arguments and options. */
  inDatabase<Given extends unknown[]>(
    work: (opened: { engine: Engine; config: Config }, ...given: Given) => Promise<void>,
  ): this {
    return this.action(async (...given: unknown[]) =>
      // Commander passes the arguments and options that the command declares.
      withDatabase(this.#terminal, (engine, config) => work({ engine, config }, ...(given as Given))),
    );
  }
}
