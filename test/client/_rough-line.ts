/** A line to a server that delays, refuses, and breaks. */
import { request as sendRequest, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import type { Test } from 'tap';

import { listen } from './_service.ts';

export interface RoughLine {
  url: string;
  /** Requests that came in so far. */
  count: () => number;
  /** Leads to another server from now on. */
  leadTo: (url: string) => void;
}

export interface RoughLineOptions {
  delayMs?: number;
  /** How many of a hundred requests meet each kind of fault. */
  faultPercent?: number;
  roll?: (sides: number) => number;
}

const errorBody = (code: string) => JSON.stringify({ error: { code, message: 'Try again.' } });

/** The faults that a request can meet, besides a server that isn't there. */
const faults: ((res: ServerResponse) => void)[] = [
  (res) => res.writeHead(429, { 'Retry-After': '1' }).end(errorBody('rate_limited')),
  (res) => res.writeHead(503, { 'Retry-After': '1' }).end(errorBody('unavailable')),
  (res) => res.writeHead(502).end('<h1>Bad gateway</h1>'),
  (res) => res.destroy(),
];

/** Puts a line in front of a server until the test ends. */
export async function layRoughLine(
  t: Test,
  target: string,
  {
    delayMs = 0,
    faultPercent = 0,
    roll = (sides) => Math.floor(Math.random() * sides),
  }: RoughLineOptions = {},
): Promise<RoughLine> {
  let origin = target;
  let count = 0;
  const { url } = await listen(t, (req, res) => {
    count += 1;
    const fault = faultPercent > 0 ? faults[Math.floor(roll(100) / faultPercent)] : undefined;
    const isCut = roll(100) < faultPercent;
    const { authorization = '' } = req.headers;
    void pause(delayMs).then(() => {
      if (fault) {
        fault(res);
        return;
      }
      const sent = sendRequest(new URL(req.url ?? '', origin), { headers: { authorization } }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        if (!isCut) return void answer.pipe(res);
        // The answer breaks off in its middle.
        answer.once('data', (part: Buffer) =>
          res.write(part.subarray(0, part.length / 2), () => res.destroy()),
        );
        answer.once('end', () => res.destroy());
      });
      sent.on('error', () => res.destroy());
      sent.end();
    });
  });
  return {
    url,
    count: () => count,
    leadTo: (other) => (origin = other),
  };
}
