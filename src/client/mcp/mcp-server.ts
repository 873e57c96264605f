import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import {
  type CallToolResult,
  fromJsonSchema,
  type jsonSchemaValidator,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';

import { type Client, type DownloadedFile, type Listing, NoAnswerError, type Page } from '../index.ts';
import { version } from '../../contract/version.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { answerFromCopy, copyTools } from './copy-tools.ts';
import {
  instructions,
  type OperationTool,
  operationTools,
  UNTRUSTED_TEXT_WARNING,
  type Tool,
} from './tools.ts';

/** The maximum size in bytes of a text for a model. */
const TEXT_BYTES_MAX = 64_000;
/** The time limit of a tool call in milliseconds; clients give up after a minute. */
const ANSWER_MS_MAX = 45_000;

export interface McpServerOptions {
  /** The service that answers the operations; undefined to answer only from a copy. */
  service: ServiceTools | undefined;
  /** The path of a copy's SQLite file, from which more tools answer; undefined for none. */
  copy: string | undefined;
}

export interface ServiceTools {
  client: Client;
  /** The address of the service, for links to its files. */
  baseUrl: string;
  /** The client's API key, which is masked in every answer. */
  key: string;
  /** Writes a file and returns its path; undefined to return links to the service instead. */
  keep: ((name: string, bytes: Uint8Array) => string) | undefined;
  /** Returns a sentence that explains why no response arrived. */
  silence: (error: NoAnswerError) => string;
}

/** Serves an MCP client on standard input and output, until the input ends and every call is answered. */
export async function serveMcp(options: McpServerOptions): Promise<void> {
  const input = Readable.from(withoutMark(process.stdin));
  const transport = new AnsweringTransport(input);
  serveStdio(() => createMcpServer(options, transport), { transport });
  await new Promise((resolve) => input.once('end', resolve).once('close', resolve));
  await transport.close();
}

/** Yields the input without a byte order mark, which the protocol's parser would take for part of the first message. */
async function* withoutMark(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder();
  for await (const chunk of input) yield Buffer.from(decoder.decode(chunk, { stream: true }));
}

/** A stdio transport that answers the calls in progress before it closes, even when the input ends. */
class AnsweringTransport extends StdioServerTransport {
  readonly #calls = new Set<Promise<unknown>>();

  /** Returns a call's result, and makes `close` wait for it. */
  async withCall<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  override async close(): Promise<void> {
    // This turn lets the last message reach its tool; the turn below lets the last answer be written.
    await nextTurn();
    await Promise.allSettled(this.#calls);
    await nextTurn();
    await super.close();
  }
}

/** A validator that accepts everything: this server and the service check arguments, with messages that help a model. */
const unchecked: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
};

/** Returns a Model Context Protocol server with the contract's operations and the copy's tools. All of them are read-only. */
function createMcpServer({ service, copy }: McpServerOptions, transport: AnsweringTransport): McpServer {
  const server = new McpServer(
    { name: 'fieldledger', version },
    { instructions: service ? instructions() : UNTRUSTED_TEXT_WARNING },
  );
  const register = (
    { name, title, description, inputSchema: schema }: Tool,
    answer: (given: Arguments, signal: AbortSignal) => Promise<CallToolResult>,
  ) => {
    const annotations = { title, readOnlyHint: true, idempotentHint: true, openWorldHint: true };
    const inputSchema = fromJsonSchema<Arguments>(schema, unchecked);
    server.registerTool(name, { title, description, inputSchema, annotations }, async (given, { mcpReq }) => {
      const signal = AbortSignal.any([mcpReq.signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
      const result = await transport.withCall(
        answer(given, signal).catch((error: unknown) => failure(describe(error, service?.silence))),
      );
      return service ? withoutSecret(result, service.key) : result;
    });
  };
  if (service)
    for (const tool of operationTools())
      register(tool, (given, signal) => answerOf(tool, service, given, signal));
  if (copy !== undefined)
    for (const tool of copyTools) register(tool, async (given) => records(answerFromCopy(tool, copy, given)));
  return server;
}

async function answerOf(
  tool: OperationTool,
  { client, baseUrl, keep }: ServiceTools,
  given: Arguments,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { ids, query, chosen } = readArguments(tool, given);
  const call = client[tool.name] as (...args: unknown[]) => unknown;
  switch (tool.answer) {
    case 'list': {
      const read = async (limit?: number) => {
        const asked = limit === undefined ? query : { ...query, limit };
        const page = await firstPage(call(...ids, asked, { signal }) as Listing<object>);
        return { ...page, data: page.data.map(chosen) };
      };
      return list(await boundedPage(read));
    }
    case 'record': {
      const data = chosen((await call(...ids, { signal })) as object);
      return records(shortened(JSON.stringify({ data })));
    }
    case 'file': {
      const uri = ids.reduce((link, id) => link.replace(/\{\w+\}/, id), `${baseUrl}${tool.path}`);
      return file((await call(...ids, { signal })) as DownloadedFile, uri, keep);
    }
  }
}

async function firstPage(listing: Listing<object>): Promise<Page<object>> {
  for await (const page of listing.pages()) return page;
  throw new Error('A list has at least one page.');
}

/** Returns a page of as many records as fit, at least one. Asks again with a lower limit to get the cursor after them. */
async function boundedPage(
  read: (limit?: number) => Promise<Page<object>>,
  limit?: number,
): Promise<Page<object>> {
  const page = await read(limit);
  const { length } = page.data;
  const fitting = countFitting(page.data);
  if (fitting === length || length === 1 || limit === 1) return page;
  // The limit falls each time, so that the recursion ends.
  return boundedPage(read, Math.max(Math.min(fitting, (limit ?? length) - 1), 1));
}

/** The bytes reserved for the JSON of a page without its records, including the cursor. */
const ENVELOPE_BYTES = 300;

function countFitting(records: readonly unknown[]): number {
  let bytes = 0;
  return records.filter((record) => {
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1;
    return bytes < TEXT_BYTES_MAX - ENVELOPE_BYTES;
  }).length;
}

const NONE = 'No record has all that was asked for. Where an id is asked for, a name finds nothing.';

/** Returns the answer for a page or, if its one record is too large, the next page's cursor and the start of the record. */
function list({ data, nextCursor }: Page<object>): CallToolResult {
  const whole = JSON.stringify({ data, nextCursor });
  // A model that gave a name for an id would otherwise conclude that there are no records.
  if (data.length === 0) return records(whole, NONE);
  if (Buffer.byteLength(whole) <= TEXT_BYTES_MAX) return records(whole);
  return records(JSON.stringify({ nextCursor }), shortened(JSON.stringify(data[0])));
}

/** Returns a record's JSON, cut off after {@link TEXT_BYTES_MAX} at the end of a character. */
function shortened(record: string): string {
  const bytes = Buffer.from(record);
  if (bytes.length <= TEXT_BYTES_MAX) return record;
  // In stream mode, the decoder leaves out an incomplete character at the end.
  const shown = new TextDecoder().decode(bytes.subarray(0, TEXT_BYTES_MAX), { stream: true });
  return `${shown}\n[The record has ${bytes.length} bytes. These are the first ${Buffer.byteLength(shown)}.]`;
}

function texts(...parts: string[]): CallToolResult {
  return { content: parts.map((text) => ({ type: 'text', text })) };
}

function records(...parts: string[]): CallToolResult {
  return texts(...parts, UNTRUSTED_TEXT_WARNING);
}

/** Returns a link to a saved file, or to the file at the service: the file itself would cost a model ten thousand words. */
function file({ bytes, fileName }: DownloadedFile, link: string, keep: ServiceTools['keep']): CallToolResult {
  // The service chose the name, so it can contain anything.
  const name = fileName.replaceAll(/^\.|[^\w.-]/g, '_');
  const path = keep?.(name, bytes);
  const uri = path === undefined ? link : pathToFileURL(path).href;
  const hint = ' takes the API key. "fieldledger mcp --files FOLDER" keeps files in a folder.';
  const { content } = texts(`${name}, ${bytes.length} bytes: ${path ?? link + hint}`);
  const found = { uri, name, mimeType: 'application/pdf', size: bytes.length };
  return { content: [...content, { type: 'resource_link', ...found }] };
}

/** Returns an error for the model: the contract's code and message, or the reason why no response arrived. */
function failure(error: string): CallToolResult {
  return { ...texts(error), isError: true };
}

function describe(error: unknown, silence?: ServiceTools['silence']): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError')
    return `No answer came within ${ANSWER_MS_MAX / 1000} seconds. The key's rate limit may be used up: ask again in a minute.`;
  if (silence && error instanceof NoAnswerError) return silence(error);
  return error.message;
}

function withoutSecret(result: CallToolResult, secret: string): CallToolResult {
  // A key has no characters that JSON would escape.
  return JSON.parse(JSON.stringify(result).replaceAll(secret, '[key]')) as CallToolResult;
}
