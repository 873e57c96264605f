import { join } from 'node:path';

import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Test } from 'tap';

const program = join(import.meta.dirname, '..', '..', '..', 'src', 'fieldledger.js');

interface Called {
  text: string;
  isError: boolean;
  content: CallToolResult['content'];
}

export interface Tools {
  client: Client;
  /** Calls a tool. No answer may show the key. */
  call: (name: string, args?: Record<string, unknown>) => Promise<Called>;
}

/**
 * Starts the command as a program with a model does, and ends it with the test. By then it must have told nothing on
 * standard error.
 */
export async function startTools(t: Test, options: string[], key = '', environment = {}): Promise<Tools> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const transport = new StdioClientTransport({
    command: program,
    args: ['mcp', ...options],
    env: { PATH, NODE_COMPILE_CACHE, API_KEY: key, ...environment },
    stderr: 'pipe',
  });
  let told = '';
  transport.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const client = new Client({ name: 'test', version: '1' });
  t.teardown(async () => {
    await client.close();
    if (told !== '') throw new Error(`It told: ${told}`);
  });
  await client.connect(transport);
  return {
    client,
    async call(name, args = {}) {
      const { content, isError } = await client.callTool({ name, arguments: args });
      if (key !== '' && JSON.stringify(content).includes(key)) throw new Error('An answer shows the key.');
      const [first] = content;
      return { text: first?.type === 'text' ? first.text : '', isError: isError === true, content };
    },
  };
}
