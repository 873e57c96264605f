import { Command } from 'commander';

import { createClient } from '../client/index.ts';
import { serveMcp } from '../mcp/mcp-server.ts';
import { useProxy } from './proxy.ts';
import { serviceAccess, type ServiceOptions, withService } from './service-access.ts';
import type { Terminal } from './terminal.ts';

/** A model waits for an answer: it would rather hear of a failure soon. */
const RETRIES_MAX = 2;

/** `fieldledger mcp`: lets a program with a model read from a service. It needs no database. */
export function mcpCommand(terminal: Terminal): Command {
  return withService(new Command('mcp'))
    .description(
      'serve the operations of an API as tools of the Model Context Protocol, on standard input and output',
    )
    .action(async (options: ServiceOptions) => {
      const { baseUrl, key } = serviceAccess(options, terminal);
      using resources = new DisposableStack();
      resources.use(useProxy(baseUrl, terminal.environment));
      const client = createClient({ baseUrl, key, maxRetries: RETRIES_MAX });
      if (process.stdin.isTTY)
        terminal.tell('Waits for messages of a program on standard input, until its end.\n');
      await serveMcp({ client, baseUrl, key });
    });
}
