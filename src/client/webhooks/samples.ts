import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { once } from 'node:events';

import { type ExampleEvent, exampleEvents } from '../../contract/examples.ts';
import { quote, unknownName, UsageError } from '../../errors.ts';

/** The response timeout in milliseconds, as for a delivery (openapi.yaml, "Answer"). */
const DEADLINE_MS = 10_000;

/**
 * Returns the contract's example of an event.
 * @param name selects one of several examples; by default, the first.
 * @throws UsageError that lists the known names.
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

/** The outcome of a request: the response's status, or the reason why there is no response. */
export type PostOutcome = { milliseconds: number } & (
  { status: number } | { reason: string; isLate: boolean }
);

/** Returns an http or https URL, parsed. @throws UsageError that quotes an invalid one. */
export function receiverAddress(to: string): URL {
  const url = URL.parse(to);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`${quote(to)} is not an address such as http://localhost:3000/hook.`);
  return url;
}

/**
 * Posts to any address, including this machine's own, and returns the outcome; only a user at the command line asks for it.
 * As with a delivery, the response body isn't read and redirects aren't followed.
 */
export async function post(
  url: URL,
  headers: Record<string, string>,
  body: string,
  deadlineMs = DEADLINE_MS,
): Promise<PostOutcome> {
  const begun = performance.now();
  const elapsed = () => Math.round(performance.now() - begun);
  // The default agents may use a proxy from the environment.
  const [request, agent] =
    url.protocol === 'https:' ? [httpsRequest, new HttpsAgent()] : [httpRequest, new HttpAgent()];
  const signal = AbortSignal.timeout(deadlineMs);
  const length = { 'Content-Length': String(Buffer.byteLength(body)) };
  try {
    const sent = request(url, { method: 'POST', headers: { ...headers, ...length }, agent, signal }).end(
      body,
    );
    // The event's only argument is an IncomingMessage.
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
 * Sends a sample delivery to a receiver.
 * @returns the response's status, and the milliseconds until it arrived.
 * @throws UsageError with the reason if there is no response.
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
  // If a host name has several addresses and all fail, Node's error has only a code.
  return message || String(code);
}
