import type { Asker, Party } from './_parties.ts';
import { neighbourId } from './_parties.ts';
import { withBody } from './_planting.ts';
import type { Defect, ProxiedRequest } from './_proxy.ts';

/** Lets one asker in as the reader. */
function asReader(asker: Asker): NonNullable<Defect['request']> {
  return (request, party) => {
    if (request.headers['authorization'] !== party.authorization(asker)) return request;
    return withKeyOf(party, 'reader', request);
  };
}

function withKeyOf(party: Party, asker: Asker, request: ProxiedRequest): ProxiedRequest {
  return { ...request, headers: { ...request.headers, authorization: party.authorization(asker) ?? '' } };
}

/** Defects in who is let in, and what they see. */
export const accessDefects: readonly Defect[] = [
  { name: 'a wrong key is taken', says: /the status is 200, not 401/, request: asReader('wrong') },
  { name: 'a revoked key still works', says: /the status is 200, not 401/, request: asReader('revoked') },
  {
    name: 'a scope is not checked',
    within: /listCustomers/,
    says: /the status is 200, not 403/,
    request: asReader('without customers:read'),
  },
  {
    name: 'a company that is cut off reads on',
    says: /the status is 200, not 403/,
    request: asReader('cut off'),
  },
  {
    name: 'a company without a subscription reads on',
    says: /the status is 200, not 403/,
    request: asReader('unpaid'),
  },
  {
    name: 'the plan is not looked at',
    within: /listQuotes/,
    says: /the status is 200, not 403/,
    request: asReader('unlicensed for quotes:read'),
  },
  {
    name: 'invoicing is not looked at',
    within: /listQuotes/,
    says: /the status is 200, not 503/,
    request: asReader('uninvoiced'),
  },
  {
    name: 'the allowance never ends',
    says: /the status is 200, not 429/,
    reply: (reply, request, again) =>
      reply.status === 429
        ? again({ ...request, headers: { ...request.headers, authorization: 'none' } }).then(() => ({
            ...reply,
            status: 200,
          }))
        : reply,
  },
  {
    name: 'parameters are looked at before the key',
    within: /the first reason for a refusal/,
    says: /400 invalid_parameter, not 401 invalid_key|the status is 400, not 401/,
    request: (request, party) =>
      request.target.includes('limit=0') && request.headers['authorization'] === undefined
        ? withKeyOf(party, 'reader', request)
        : request,
  },
  {
    name: "another company's record is shown by its id",
    within: /another company is not seen/,
    says: /another company's record is answered 200/,
    reply: (reply, request, again, party) =>
      reply.status === 404 ? again(withKeyOf(party, 'neighbour', request)) : reply,
  },
  {
    name: "another company's record is known to exist",
    within: /another company is not seen/,
    says: /another company's record is answered 403/,
    reply: async (reply, request, again, party) => {
      if (reply.status !== 404) return reply;
      const other = await again(withKeyOf(party, 'neighbour', request));
      if (other.status !== 200) return reply;
      const body = { error: { code: 'missing_scope', message: 'This API key lacks the scope jobs:read.' } };
      return withBody({ ...reply, status: 403 }, JSON.stringify(body));
    },
  },
  {
    name: "another company's record is in the list",
    says: /differs from the example|shows another company's record/,
    reply: async (reply, request, again, party) => {
      if (reply.status !== 200 || request.target !== '/api/v1/customers') return reply;
      const other = await again(withKeyOf(party, 'neighbour', request));
      const [own, others] = [reply, other].map(
        ({ body }) => JSON.parse(body.toString('utf8')) as { data: { id: string }[] },
      );
      const leaked = others?.data.filter(({ id }) => id === neighbourId('cus_0001')) ?? [];
      return withBody(reply, JSON.stringify({ ...own, data: [...(own?.data ?? []), ...leaked] }));
    },
  },
  {
    name: 'another company with the same id is read',
    says: /is "A secret"/,
    request: (request, party) =>
      request.target === '/api/v1/jobs/job_0001' ? withKeyOf(party, 'neighbour', request) : request,
  },
];
