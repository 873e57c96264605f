/**
 * Why an attempt got no status.
 *
 * `dns`: the name has no address, or more than 128, or they could not be found out. `refused`: an address that isn't
 * public, or is the service's own. `connect`: no connection. `tls`: no TLS 1.2 or 1.3 with a valid certificate of that
 * name. `timeout`: the deadline of the whole attempt. `reset`: the connection ended before the answer. `protocol`: not
 * HTTP/1.1 (HTTP/2 alone, for example), or an answer beyond its limits. `internal`: the service could not make the
 * request. `interrupted`: its process ended, or was stopped, before it knew the answer.
 */
export type AttemptError = keyof typeof attemptErrorTexts;

/**
 * The sentence for administrators about each. It has no details: those of a refused address would describe the
 * operator's network to anybody who registers a webhook.
 */
export const attemptErrorTexts = {
  dns: 'The host name could not be resolved.',
  refused: 'The address is not public.',
  connect: 'No connection could be made.',
  tls: 'No secure connection could be made: the certificate or the TLS version was not accepted.',
  timeout: 'There was no answer within 10 seconds.',
  reset: 'The connection was closed before there was an answer.',
  protocol:
    'The receiver does not speak HTTP/1.1 by its rules, or offers HTTP/2 alone, which deliveries do not use.',
  internal: 'The service could not make the request.',
  interrupted: 'The service was stopped before it knew the answer.',
} as const;

/**
 * The result of an attempt in words.
 * @param reason the status or the class of error, as the history keeps it.
 */
export function outcomeText(reason: string): string {
  if (/^\d+$/.test(reason)) return `The answer was ${reason}.`;
  return Object.hasOwn(attemptErrorTexts, reason) ? attemptErrorTexts[reason as AttemptError] : reason;
}
