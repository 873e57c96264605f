import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { once } from 'node:events';

import { type ExampleEvent, exampleEvents } from '../../contract/examples.ts';
import { quote, unknownName, UsageError } from '../../errors.ts';

/** The time for an answer, as for a delivery (openapi.yaml, "Answer"). */
const DEADLINE_MS = 10_000;

/**
 * The contract's example of an event.
 * @param name which of them, where there are several; the first unless told.
 * @throws UsageError naming what there is.
 */
export function exampleOf(event: string, name?: string): ExampleEvent {
  const all = exampleEvents();
  const ofEvent = all.filter((example) => example.event === event);
  if (ofEvent.length === 0) {
    const kinds = [...new Set(all.map((example) => example.event))];
    throw new UsageError(unknownName(event, 'an event', kinds));
  }
  const example = ofEvent.find((candidate) => name === undefined || candidate.name === name);
  if (example) return example;
  const names = ofEvent.map((candidate) => candidate.name);
  throw new UsageError(unknownName(name ?? '', `an example of ${event}`, names));
}

/** The outcome of a request: the status of the answer, or why there is none. */
export type Posted = { milliseconds: number } & ({ status: number } | { reason: string; isLate: boolean });

/** Reads an http or https address. @throws UsageError naming what isn't one. */
export function receiverAddress(to: string): URL {
  const url = URL.parse(to);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${quote(to)} is not an address such as http://localhost:3000/hook.`);
  return url;
}

/**
 * Posts to any address, this machine's own too: only a person at the command line asks for it. The body of the answer
 * isn't read, and redirects aren't followed, as with a delivery.
 */
export async function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  deadlineMs = DEADLINE_MS,
): Promise<Posted> {
  const begun = performance.now();
  const elapsed = () => Math.round(performance.now() - begun);
  // Agents of its own: the usual ones may be told by the environment to use a proxy.
  const [request, agent] =
    url.protocol === 'https:' ? [httpsRequest, new HttpsAgent()] : [httpRequest, new HttpAgent()];
  const signal = AbortSignal.timeout(deadlineMs);
  const length = { 'Content-Length': String(Buffer.byteLength(body)) };
  try {
    const sent = request(url, { method: 'POST', headers: { ...headers, ...length }, agent, signal }).end(
      body,
    );
    // An http request's response is one of these.
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).destroy();
    return { status: answer.statusCode ?? 0, milliseconds: elapsed() };
  } catch (error) {
    const isLate = signal.aborted;
    const reason = isLate ? `there was no answer within ${deadlineMs / 1000} seconds` : reasonOf(error);
    return { reason, isLate, milliseconds: elapsed() };
  } finally {
    agent.destroy();
  }
}

/**
 * Sends a sample.
 * @returns the status of the answer, and milliseconds until it came.
 * @throws UsageError that says why there is none.
 */
export async function sendSample(
  to: string,
  headers: Record<string, string>,
  body: string,
  deadlineMs?: number,
): Promise<{ status: number; milliseconds: number }> {
  const posted = await post(receiverAddress(to), headers, body, deadlineMs);
  if ('reason' in posted)
    throw new UsageError(`The sample could not be sent to ${quote(to)}: ${posted.reason}.`);
  return posted;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ECONNREFUSED') return 'nothing listens there (ECONNREFUSED)';
  // Where a name has several addresses and all fail, Node says only the code.
  return message || String(code);
}
