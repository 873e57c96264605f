/**
 * The reason why an attempt to deliver got no HTTP status.
 *
 * `dns`: the name has no address, or more than 128, or the lookup failed. `refused`: an address that isn't public, or is the
 * service's own. `connect`: no connection. `tls`: no TLS 1.2 or 1.3 with a valid certificate for that name. `timeout`: the
 * deadline of the whole attempt passed. `reset`: the connection ended before the answer. `protocol`: not HTTP/1.1 (HTTP/2
 * alone, for example), or an answer beyond its limits. `internal`: the service could not make the request. `interrupted`: its
 * process ended, or was stopped, before it knew the answer.
 */
export type AttemptError = keyof typeof attemptErrorTexts;

/**
 * The sentences that explain error classes to administrators, by class. They have no details: those of a refused address
 * would describe the operator's network to anybody who registers a webhook.
 */
export const attemptErrorTexts = {
  dns: 'The host name was not found.',
  refused: 'The address is not public.',
  connect: 'No connection could be made.',
  tls: 'No secure connection could be made: the certificate or the TLS version was not accepted.',
  timeout: 'No response within 10 seconds.',
  reset: 'The connection closed before the response.',
  protocol: 'Deliveries need HTTP/1.1: the receiver breaks its rules, or accepts only HTTP/2.',
  internal: 'The service could not make the request.',
  interrupted: 'The service stopped before it got the response.',
} as const;

/**
 * Returns the result of an attempt in plain English.
 * @param reason the status or the error class, as stored in the history.
 */
export function outcomeText(reason: string): string {
  if (/^\d+$/.test(reason)) return `The response was ${reason}.`;
  return Object.hasOwn(attemptErrorTexts, reason) ? attemptErrorTexts[reason as AttemptError] : reason;
}

/** Usual causes of failures, by HTTP status, by its first digit, or by error class. */
const causes: Readonly<Record<string, string>> = {
  3: 'The address redirects to another one. We don’t follow redirects, so register that address.',
  401: 'The receiver checks signatures with another secret, or asks for a password.',
  403: 'The receiver checks signatures with another secret, or a firewall blocks us.',
  404: 'The path is mistyped, or the receiver was moved or removed.',
  405: 'The receiver doesn’t accept POST at this path.',
  410: 'The receiver was removed.',
  413: 'The receiver, or a proxy in front of it, accepts only smaller bodies. A delivery has up to 10 MB.',
  415: 'The receiver doesn’t take application/json at this path.',
  429: 'The receiver limits how often it may be called.',
  4: 'The receiver doesn’t accept the request. Its log may say why.',
  5: 'The receiver failed, or a proxy in front of it couldn’t reach it. Its log may say why.',
  dns: 'The host name is mistyped, or its DNS entry is gone.',
  refused: 'The DNS entry leads to a private network, which we never call.',
  connect: 'The server is off, nothing listens on port 443, or a firewall is in between.',
  tls: 'The certificate has expired, is for another name, or lacks its intermediate certificates.',
  timeout: 'The receiver works before it responds. Let it respond first, and work on the event later.',
  reset: 'The receiver, or a proxy in front of it, restarted during the request.',
};

/** Returns the usual cause of an attempt's failure; undefined if none is known, such as for the service's own faults. */
export function usualCause(reason: string): string | undefined {
  return causes[reason] ?? causes[reason.charAt(0)];
}
