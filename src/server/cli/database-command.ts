import { Command } from 'commander';

import type { Terminal } from '../../command-line/terminal.ts';
import type { Config } from '../process/config.ts';
import type { Engine } from '../store/engines/engine.ts';
import { withDatabase } from './database.ts';

/** A command with work in the configured database, or a group of such commands. */
export class DatabaseCommand extends Command {
  readonly #terminal: Terminal;

  constructor(name: string | undefined, terminal: Terminal) {
    super(name);
    this.#terminal = terminal;
  }

  override createCommand(name?: string): DatabaseCommand {
    return new DatabaseCommand(name, this.#terminal);
  }

  /** @param work gets the command's arguments and options behind the database. */
  inDatabase<Given extends unknown[]>(
    work: (opened: { engine: Engine; config: Config }, ...given: Given) => Promise<void>,
  ): this {
    return this.action(async (...given: unknown[]) =>
      // Commander gives what the command was told to take.
      withDatabase(this.#terminal, (engine, config) => work({ engine, config }, ...(given as Given))),
    );
  }
}
