import { inHeaders, withKeyOf } from './_planting.ts';
import type { Defect, ProxiedReply } from './_proxy.ts';

/** Changes a header wherever it is. */
function inHeader(name: string, change: (value: string) => string): NonNullable<Defect['reply']> {
  return (reply) => {
    const value = reply.headers[name];
    return typeof value === 'string'
      ? { ...reply, headers: { ...reply.headers, [name]: change(value) } }
      : reply;
  };
}

/** Once something was refused, everything is. */
function refusedForGood(): NonNullable<Defect['reply']> {
  let refused: ProxiedReply | undefined;
  return (reply) => {
    if (reply.status === 429) refused = reply;
    return refused ?? reply;
  };
}

/** Defects in how requests are counted, and in what is told of it. */
export const allowanceDefects: readonly Defect[] = [
  {
    name: 'what is left stands still',
    within: /an allowance counts down/,
    says: /r is 2 after r=2/,
    reply: inHeader('ratelimit', (value) => value.replace(/r=\d+/, 'r=2')),
  },
  {
    name: 'what is left is told one too high',
    within: /an allowance counts down/,
    says: /r is 1 on a 429|the last one before a 429 has r=1/,
    reply: inHeader('ratelimit', (value) =>
      value.replace(/r=(\d+)/, (_all, left) => `r=${Number(left) + 1}`),
    ),
  },
  {
    name: 'a 429 says that something is left',
    within: /an allowance counts down/,
    says: /r is 1 on a 429/,
    reply: inHeaders(429, (headers) => ({
      ...headers,
      ratelimit: String(headers['ratelimit']).replace('r=0', 'r=1'),
    })),
  },
  {
    name: 'the seconds until the window ends stand still',
    within: /an allowance counts down/,
    says: /t did not fall/,
    reply: inHeader('ratelimit', (value) => value.replace(/t=\d+/, 't=2')),
  },
  {
    name: 'the seconds count from the start of the window',
    within: /an allowance counts down/,
    says: /t rose|t is 1 at the start/,
    reply: inHeader('ratelimit', (value) =>
      value.replace(/t=(\d+)/, (_all, t) => `t=${Math.max(1, 3 - Number(t))}`),
    ),
  },
  {
    name: 'Retry-After is longer than the window',
    within: /an allowance counts down/,
    says: /Retry-After is 3600/,
    reply: inHeaders(429, (headers) => ({ ...headers, 'retry-after': '3600' })),
  },
  {
    name: 'Retry-After is too short',
    within: /an allowance counts down/,
    says: /Retry-After is 1, t=2/,
    // Of a window of two seconds, so that the second that is left is one too few.
    reply: inHeaders(429, (headers) => ({
      ...headers,
      'retry-after': '1',
      ratelimit: String(headers['ratelimit']).replace(/t=\d+/, 't=2'),
    })),
  },
  {
    name: 'the policy names more than is allowed',
    within: /an allowance counts down/,
    says: /r is \d+ at the start of a window of 10/,
    reply: inHeader('ratelimit-policy', (value) => value.replace(/q=5;/, 'q=10;')),
  },
  {
    name: 'the policy names a longer window',
    within: /an allowance counts down/,
    says: /t is 2 at the start of a window of 60 seconds/,
    reply: inHeader('ratelimit-policy', (value) => value.replace(/w=\d+/, 'w=60')),
  },
  {
    name: 'what is left is told of another policy',
    within: /an allowance counts down/,
    says: /RateLimit tells of "burst"/,
    reply: inHeader('ratelimit', (value) => value.replace('"default"', '"burst"')),
  },
  {
    name: 'the allowance does not come back',
    within: /an allowance counts down/,
    says: /429 after the wait/,
    reply: refusedForGood(),
  },
  {
    name: 'the keys of a company share an allowance',
    within: /an allowance counts down/,
    says: /another key of the company is answered 429/,
    request: (request, party) =>
      request.headers['authorization'] === party.authorization('colleague of spenders')
        ? withKeyOf(party, 'spender of short windows', request)
        : request,
  },
  {
    name: 'less is allowed than was promised',
    within: /the allowance is the promised one/,
    says: /the policy is "default";q=60;w=60/,
    reply: inHeader('ratelimit-policy', (value) => value.replace('q=120', 'q=60')),
  },
  ...[400, 403, 404, 503].map((status) => ({
    name: `${status} does not tell the allowance`,
    within: /every answer to a known key/,
    says: new RegExp(`${status} without RateLimit`),
    reply: inHeaders(status, (headers) => ({
      ...headers,
      ratelimit: undefined,
      'ratelimit-policy': undefined,
    })),
  })),
];
