/** The feed over HTTP, whose every answer is held to feed.yaml. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';

import type { ValidateFunction } from 'ajv/dist/2020.js';
import got, { type Response } from 'got';
import type { Test } from 'tap';

import { createFeedToken } from '../../../src/server/features/feed-tokens/feed-tokens.ts';
import { createFeedServer } from '../../../src/server/feed/feed-server.ts';
import { listen } from '../../../src/server/connections/listen.ts';
import { createLogger, type Logger } from '../../../src/server/process/log.ts';
import { createMetrics, type Metrics } from '../../../src/server/process/metrics.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { closed, root, type Schema, strictAjv } from '../../contract/_contract.ts';
import { KEY_PREFIX, STORY_NOW } from '../../_server.ts';
import { onEachEngine, onSqlite, type TestBackoffice, type TestCompany } from '../backoffice/_backoffice.ts';
import { jobCreate, openStaffedCompany } from '../backoffice/_changes.ts';

interface Declared {
  description: string;
  headers?: Record<string, { required?: boolean }>;
  content: Record<string, { schema: Schema }>;
}

interface DeclaredOperation {
  operationId: string;
  responses: Record<string, Declared>;
}

const document = JSON.parse(readFileSync(new URL('generated/feed.dereferenced.json', root), 'utf8')) as {
  paths: Record<string, Record<string, DeclaredOperation>>;
  components: { schemas: Record<string, Schema> };
};
export const feedOperations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const validators = new Map<string, ValidateFunction>();

function problemsOf(name: string, schema: Schema, value: unknown): string[] {
  const validate = validators.get(name) ?? strictAjv().compile(closed(schema));
  validators.set(name, validate);
  return validate(value)
    ? []
    : [`${JSON.stringify(value).slice(0, 500)}: ${JSON.stringify(validate.errors)}`];
}

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

const { Error: ErrorSchema = {}, BatchAnswer = {} } = document.components.schemas;

/** What is wrong with an answer by feed.yaml; a path or method that it doesn't have gets 404 or 405. */
export function replyProblems(operationId: string | undefined, { status, headers, body }: Reply): string[] {
  const type = String(headers['content-type']);
  const operation = feedOperations.find((candidate) => candidate.operationId === operationId);
  const declared = operation?.responses[status];
  if (!declared) {
    const isElsewhere = !operation && [400, 404, 405].includes(status);
    return isElsewhere
      ? problemsOf('Error', ErrorSchema, JSON.parse(body))
      : [`${operationId} has no ${status}: ${body}`];
  }
  const missing = Object.entries(declared.headers ?? {})
    .filter(([name, { required }]) => required === true && headers[name.toLowerCase()] === undefined)
    .map(([name]) => `${status} has no ${name}`);
  const schema = declared.content[type]?.schema;
  if (!schema) return [...missing, `${status} has no ${type}`];
  if (type === 'application/x-ndjson') {
    const lines = body.split('\n').slice(0, -1);
    return [...missing, ...lines.flatMap((line) => problemsOf('BatchAnswer', BatchAnswer, JSON.parse(line)))];
  }
  return [...missing, ...problemsOf(`${operationId} ${status}`, schema, JSON.parse(body))];
}

export interface DoorOptions {
  requestsPerMinute?: number;
  now?: () => Date;
  log?: Logger;
  /** Milliseconds that a request may take to come, if not half a minute. */
  requestMsMax?: number;
}

export interface Door extends AsyncDisposable {
  url: string;
  metrics: Metrics;
  /** Posts a body, or changes as a JSON array. @throws Error for an answer that feed.yaml doesn't have. */
  post: (body: string | Buffer | readonly unknown[], headers?: Record<string, string>) => Promise<Reply>;
  get: (path: string, headers?: Record<string, string>) => Promise<Reply>;
  /** Asks for a portal link, with a body or an object. */
  askForLink: (asked: string | object, headers?: Record<string, string>) => Promise<Reply>;
  /** The answers to changes, in short. */
  apply: (changes: readonly unknown[], headers?: Record<string, string>) => Promise<string[]>;
}

/** Opens the feed of a database on a free port; a request has this token unless its headers name another. */
export async function openDoor(engine: Engine, token: string, options: DoorOptions = {}): Promise<Door> {
  const metrics = createMetrics();
  const server = await createFeedServer({
    ...{ log: createLogger('silent'), now: () => STORY_NOW, isReady: () => true },
    ...{ requestsPerMinute: 1_000_000, baseUrl: () => 'https://api.example.com' },
    ...options,
    ...{ engine, metrics: metrics.feed, keyPrefix: KEY_PREFIX },
  });
  const { requestMsMax = server.requestTimeout } = options;
  Object.assign(server, {
    requestTimeout: requestMsMax,
    headersTimeout: Math.min(requestMsMax, server.headersTimeout),
  });
  await listen(server, { host: '127.0.0.1', port: 0 });
  // A server that listens on a port has an address of this shape.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = got.extend({ prefixUrl: url, retry: { limit: 0 }, throwHttpErrors: false });
  const checked = async (operationId: string, sent: Promise<Response<string>>): Promise<Reply> => {
    const { statusCode: status, headers, body } = await sent;
    const problems = replyProblems(operationId, { status, headers, body });
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return { status, headers, body };
  };
  const own = bearer(token);
  const post: Door['post'] = async (body, headers = {}) => {
    const isArray = typeof body !== 'string' && !Buffer.isBuffer(body);
    const sent = isArray ? JSON.stringify(body) : body;
    const all = { 'content-type': 'application/json', ...own, ...headers };
    return checked('applyChanges', http.post('feed/v1/changes', { body: sent, headers: all }));
  };
  return {
    ...{ url, metrics, post },
    get: async (path, headers = {}) =>
      checked(
        path.startsWith('changes/') ? 'getChange' : 'getPosition',
        http.get(`feed/v1/${path}`, { headers: { ...own, ...headers } }),
      ),
    askForLink: async (asked, headers = {}) => {
      const body = typeof asked === 'string' ? asked : JSON.stringify(asked);
      const all = { 'content-type': 'application/json', ...own, ...headers };
      return checked('createPortalLink', http.post('feed/v1/portal-links', { body, headers: all }));
    },
    async apply(changes, headers) {
      const { status, body } = await post(changes, headers);
      if (status !== 200) return [`${status} ${errorIn(body).code}`];
      return answersIn(body).map(inShort);
    },
    async [Symbol.asyncDispose]() {
      const ended = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await ended;
    },
  };
}

interface AnyAnswer {
  line: number;
  id?: string;
  status: string;
  record?: Record<string, unknown> | null;
  error?: { code: string; path: string; message: string };
}

export function answersIn(body: string): AnyAnswer[] {
  return (JSON.parse(body) as { answers: AnyAnswer[] }).answers;
}

export function errorIn(body: string): { code: string; message: string } {
  return (JSON.parse(body) as { error: { code: string; message: string } }).error;
}

function inShort({ line, id = '-', status, error }: AnyAnswer): string {
  return `${line} ${id} ${error ? `${error.code} ${error.path}`.trim() : status}`;
}

export type TestDoor = Door & TestBackoffice & { company: TestCompany; token: string };

export async function tokenFor(
  engine: Engine,
  given: Partial<Parameters<typeof createFeedToken>[1]> = {},
): Promise<{ id: string; token: string }> {
  const { token, record } = await createFeedToken(engine, {
    ...{ keyPrefix: KEY_PREFIX, name: 'erp', now: STORY_NOW },
    ...given,
  });
  return { id: record.id, token };
}

/** A change that makes a job, under an id of its own. */
export const job = (company: string, number: number, given: object = {}) => ({
  ...{ id: `c${number}`, company, ...jobCreate({ id: `job_${number}` }) },
  ...given,
});

export const portOf = ({ url }: Pick<Door, 'url'>) => Number(new URL(url).port);

/** The head of a request with a token, whose body is to follow. */
export const headOf = (line: string, token: string, fields: string) =>
  `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${fields}\r\n\r\n`;

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
export const NDJSON = { 'content-type': 'application/x-ndjson' };

type Body = (t: Test, door: TestDoor) => Promise<void>;

/** Runs a test on each engine, with the feed of a company that has staff, and a token for everything. */
export function onEachDoor(title: string, body: Body): void {
  onEachEngine(title, throughDoor(body));
}

/** The same for what the engines have no part in. */
export function onDoor(title: string, body: Body): void {
  onSqlite(title, throughDoor(body));
}

function throughDoor(body: Body) {
  return async (t: Test, office: TestBackoffice) => {
    const company = await openStaffedCompany(office.openCompany);
    const { token } = await tokenFor(office.engine);
    await using door = await openDoor(office.engine, token);
    await body(t, { ...office, ...door, company, token });
  };
}
