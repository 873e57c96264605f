import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Command } from 'commander';

import { createClient, type NoAnswerError } from '../index.ts';
import { quote, UsageError } from '../../errors.ts';
import { serveMcp, type ServiceTools } from '../mcp/mcp-server.ts';
import { readCopy } from '../sync/read-copy.ts';
import { beginFile } from '../../command-line/unfinished-file.ts';
import { useProxy } from './proxy.ts';
import { noAnswerError } from './service.ts';
import { serviceAccess, type ServiceOptions, withService } from './service-access.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** The maximum number of retries of a request, lower than in other commands because a model waits for the answer. */
const RETRIES_MAX = 2;

interface McpOptions extends ServiceOptions {
  files?: string;
  copy?: string;
}

/** `fieldledger mcp`: lets a program with an AI model read from a service, a copy or both. It needs no database. */
export function mcpCommand(terminal: Terminal): Command {
  return withService(new Command('mcp'), false)
    .description(
      'serve the operations of an API as tools of the Model Context Protocol, on standard input and output',
    )
    .option('--files <folder>', 'where PDFs are written; without it a tool answers with their addresses')
    .option(
      '--copy <file>',
      'the SQLite file that pull keeps, for tools that quickly tell who owes money, the sums of months and the history of a customer; without --url there are no others',
    )
    .action(async ({ copy, ...options }: McpOptions) => {
      // An unusable copy is reported before a model asks.
      if (copy !== undefined) readCopy(copy, { today: '', needsDetails: true }, () => undefined);
      const serve = (service?: ServiceTools) => {
        if (process.stdin.isTTY)
          terminal.tell('Waits for messages of a program on standard input, until its end.\n');
        return serveMcp({ service, copy });
      };
      const { url, keyFile, files } = options;
      if (copy !== undefined && (url ?? keyFile ?? files) === undefined) return serve();
      const { baseUrl, key } = serviceAccess(options, terminal);
      using proxy = useProxy(baseUrl, terminal.environment);
      const keep = files === undefined ? undefined : keeperIn(openFolder(files));
      const client = createClient({ baseUrl, key, maxRetries: RETRIES_MAX });
      const silent = (error: NoAnswerError) => noAnswerError(baseUrl, error, proxy.hint).message;
      await serve({ client, baseUrl, key, keep, silence: silent });
    });
}

function openFolder(given: string): string {
  try {
    // Not recursive: below /proc Node's recursive mkdir never ends.
    if (!existsSync(given)) mkdirSync(given, { mode: 0o700 });
    accessSync(`${given}/.`, constants.W_OK);
    return resolve(given);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--files must be a folder that can be written, not ${quote(given)} (${code}).`);
  }
}

/** Returns a function that writes a file into a folder, readable by this user alone, and returns its path. */
function keeperIn(folder: string) {
  return (name: string, bytes: Uint8Array): string => {
    const path = join(folder, name);
    using file = beginFile(path);
    writeFileSync(file.path, bytes);
    file.replace();
    return path;
  };
}
