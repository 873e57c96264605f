import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import t, { type Test } from 'tap';

const program = join(import.meta.dirname, '..', '..', '..', 'src', 'fieldledger.js');

/** For files of a test; it goes with the test's process. */
export const folder = mkdtempSync(join(tmpdir(), 'fieldledger-mcp-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** Writes a key into a file of its own. */
export function keyFile(key: string): string {
  const path = join(folder, `${key.slice(-8)}.txt`);
  writeFileSync(path, `${key}\n`);
  return path;
}

interface Called {
  text: string;
  isError: boolean;
  content: CallToolResult['content'];
}

/** Starts the command for a service, as a program with a model does. At its end it must have told nothing on standard error. */
export async function startTools(
  t: Test,
  url: string,
  key: string,
  { options = [] as string[], environment = {} } = {},
) {
  return startMcp(t, ['--url', url, '--key-file', keyFile(key), ...options], key, environment);
}

/** The same with any options. No answer may show the key. */
export async function startMcp(t: Test, options: string[], key = 'a key', environment = {}) {
  const transport = new StdioClientTransport({
    command: program,
    args: ['mcp', ...options],
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...environment },
    stderr: 'pipe',
  });
  const output: Buffer[] = [];
  transport.stderr?.on('data', (chunk: Buffer) => output.push(chunk));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Called> => {
    const result = await client.callTool({ name, arguments: args });
    t.notMatch(JSON.stringify(result), key, 'no answer shows the key');
    const [first] = result.content;
    const text = first?.type === 'text' ? first.text : '';
    return { text, isError: result.isError === true, content: result.content };
  };
  return {
    client,
    call,
    async [Symbol.asyncDispose]() {
      await client.close();
      t.equal(Buffer.concat(output).toString(), '');
    },
  };
}

/** A service of a test's own, or the address of one that has stopped. */
export async function startService(t: Test, answer: RequestListener, state?: 'stopped'): Promise<string> {
  const service = createServer(answer).listen(0, '127.0.0.1');
  await once(service, 'listening');
  // A server that listens on a port has an address of this shape.
  const { port } = service.address() as AddressInfo;
  if (state === 'stopped') service.close();
  else t.teardown(() => service.close().closeAllConnections());
  return `http://127.0.0.1:${port}`;
}
