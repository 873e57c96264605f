import { setImmediate as nextTurn } from 'node:timers/promises';

import { type CallToolResult, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import type { Client, DownloadedFile, Listing, Page } from '../client/index.ts';
import { version } from '../version.ts';
import { instructions, type OperationTool, operationTools } from './tools.ts';

/** As much as a model reads at once, and as a program takes in one message. */
const TEXT_BYTES_MAX = 64_000;
const FILE_BYTES_MAX = 1_000_000;
/** Programs that use tools give up on one after a minute. */
const ANSWER_MS_MAX = 45_000;

export interface McpServerOptions {
  client: Client;
  /** The address of the service, for links to its files. */
  baseUrl: string;
  /** The key that the client uses: no answer shows it, whatever the service says. */
  key: string;
}

/** Serves a program on this process's standard input and output, until it ends the input and has its answers. */
export async function serveMcp(options: McpServerOptions): Promise<void> {
  const transport = new AnsweringTransport();
  serveStdio(() => createMcpServer(options, transport), { transport });
  await new Promise((resolve) => process.stdin.once('end', resolve).once('close', resolve));
  await transport.close();
}

/** Standard input and output. It closes, at the end of the input too, when the calls under way have been answered. */
class AnsweringTransport extends StdioServerTransport {
  readonly #calls = new Set<Promise<unknown>>();

  /** Waits for a call before it closes. A call ends after {@link ANSWER_MS_MAX} at the latest. */
  async withCall<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  override async close(): Promise<void> {
    // The last message reaches its tool in this turn, and the last answer is written in the one below.
    await nextTurn();
    await Promise.allSettled(this.#calls);
    await nextTurn();
    await super.close();
  }
}

/** A server of the Model Context Protocol whose tools are the operations of the contract, which all only read. */
function createMcpServer(options: McpServerOptions, transport: AnsweringTransport): McpServer {
  const server = new McpServer({ name: 'fieldledger', version }, { instructions: instructions() });
  for (const tool of operationTools()) {
    const { name, title, description } = tool;
    const annotations = { title, readOnlyHint: true, idempotentHint: true, openWorldHint: true };
    const inputSchema = fromJsonSchema<Arguments>(tool.inputSchema);
    server.registerTool(name, { title, description, inputSchema, annotations }, async (given, { mcpReq }) => {
      const signal = AbortSignal.any([mcpReq.signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
      const result = await transport.withCall(answerOf(tool, options, given, signal).catch(failure));
      return withoutSecret(result, options.key);
    });
  }
  return server;
}

type Arguments = Record<string, string | number>;

async function answerOf(
  { name, path, ids, answer, inputSchema }: OperationTool,
  { client, baseUrl }: McpServerOptions,
  given: Arguments,
  signal: AbortSignal,
): Promise<CallToolResult> {
  // The schema of the tool, which is the contract's, has been applied to the arguments.
  const call = client[name] as (...args: unknown[]) => unknown;
  const named = ids.map((id) => String(given[id]));
  switch (answer) {
    case 'list': {
      const query = Object.fromEntries(
        Object.entries(given).filter(([parameter]) => !ids.includes(parameter)),
      );
      const read = (limit: number) =>
        firstPage(call(...named, { ...query, limit }, { signal }) as Listing<unknown>);
      const limit = Number(query['limit'] ?? inputSchema.properties?.['limit']?.default);
      return list(await boundedPage(read, limit));
    }
    case 'record':
      return texts(shortened(JSON.stringify({ data: await call(...named, { signal }) })));
    case 'file': {
      const uri = named.reduce((link, id) => link.replace(/\{\w+\}/, id), `${baseUrl}${path}`);
      return file((await call(...named, { signal })) as DownloadedFile, uri);
    }
  }
}

async function firstPage(listing: Listing<unknown>): Promise<Page<unknown>> {
  for await (const page of listing.pages()) return page;
  throw new Error('A list has at least one page.');
}

/** A page with as many records as fit, or one. It is read again with fewer: only the service knows the cursor after them. */
async function boundedPage(
  read: (limit: number) => Promise<Page<unknown>>,
  limit: number,
): Promise<Page<unknown>> {
  const page = await read(limit);
  const fitting = countFitting(page.data);
  if (fitting === page.data.length || limit === 1) return page;
  // Fewer each time, whatever the service answers.
  return boundedPage(read, Math.max(Math.min(fitting, limit - 1), 1));
}

/** Room for the members around the records, with a cursor. */
const ENVELOPE_BYTES = 300;

function countFitting(records: readonly unknown[]): number {
  let bytes = 0;
  return records.filter((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    return bytes < TEXT_BYTES_MAX - ENVELOPE_BYTES;
  }).length;
}

/** A page, or the cursor and then as much of a record as fits: the records after it can be reached all the same. */
function list({ data, nextCursor }: Page<unknown>): CallToolResult {
  const whole = JSON.stringify({ data, nextCursor });
  if (Buffer.byteLength(whole) <= TEXT_BYTES_MAX) return texts(whole);
  return texts(JSON.stringify({ nextCursor }), shortened(JSON.stringify(data[0])));
}

/** The JSON of a record, or as much of it as fits, up to the end of a character. */
function shortened(record: string): string {
  const bytes = Buffer.from(record);
  if (bytes.length <= TEXT_BYTES_MAX) return record;
  // As in a stream, the half of a character at the end isn't decoded.
  const shown = new TextDecoder().decode(bytes.subarray(0, TEXT_BYTES_MAX), { stream: true });
  return `${shown}\n[The record has ${bytes.length} bytes. These are the first ${Buffer.byteLength(shown)}.]`;
}

function texts(...parts: string[]): CallToolResult {
  return { content: parts.map((text) => ({ type: 'text', text })) };
}

/** The file itself, or a link to one that is too large for a message. */
function file({ bytes, fileName }: DownloadedFile, uri: string): CallToolResult {
  const mimeType = 'application/pdf';
  if (bytes.length <= FILE_BYTES_MAX) {
    const blob = Buffer.from(bytes).toString('base64');
    const name: CallToolResult['content'][number] = { type: 'text', text: fileName };
    return { content: [name, { type: 'resource', resource: { uri, mimeType, blob } }] };
  }
  const description = 'Too large for a message: download it from this address, with the API key.';
  return {
    content: [{ type: 'resource_link', uri, name: fileName, mimeType, size: bytes.length, description }],
  };
}

/** An error as the model reads it: the contract's code and message, or the reason for which nothing came. */
function failure(error: unknown): CallToolResult {
  return { ...texts(describe(error)), isError: true };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError')
    return `No answer came within ${ANSWER_MS_MAX / 1000} seconds. The key's rate limit may be used up: ask again in a minute.`;
  return error.message;
}

function withoutSecret(result: CallToolResult, secret: string): CallToolResult {
  // A key has no character that JSON would escape.
  return JSON.parse(JSON.stringify(result).replaceAll(secret, '[key]')) as CallToolResult;
}
