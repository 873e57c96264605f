import type { Asker } from './_parties.ts';
import { neighbourId } from './_parties.ts';
import { withBody, withKeyOf } from './_planting.ts';
import type { Defect } from './_proxy.ts';

/** Lets one asker in as the reader. */
function asReader(asker: Asker): NonNullable<Defect['request']> {
  return (request, party) => {
    if (request.headers['authorization'] !== party.authorization(asker)) return request;
    return withKeyOf(party, 'reader', request);
  };
}

/** Gives one asker another's key for some paths. */
function asOther(
  asker: Asker,
  other: Asker,
  isFor: (target: string) => boolean = () => true,
): NonNullable<Defect['request']> {
  return (request, party) => {
    const isAsked = request.headers['authorization'] === party.authorization(asker) && isFor(request.target);
    return isAsked ? withKeyOf(party, other, request) : request;
  };
}

function withScheme(scheme: RegExp, other: string): NonNullable<Defect['request']> {
  return (request) => {
    const authorization = request.headers['authorization']?.replace(scheme, other);
    return authorization === undefined
      ? request
      : { ...request, headers: { ...request.headers, authorization } };
  };
}

/** Looks the record up before what is refused with a status. */
function recordBefore(status: number): NonNullable<Defect['reply']> {
  return async (reply, request, again, party) => {
    if (reply.status !== status) return reply;
    const other = await again(withKeyOf(party, 'reader', request));
    return other.status === 404 ? other : reply;
  };
}

/** Answers 304 to those who name the right tag, whatever else they lack. */
function unchangedBefore(status: number): NonNullable<Defect['reply']> {
  return async (reply, request, again, party) => {
    if (reply.status !== status || request.headers['if-none-match'] === undefined) return reply;
    const other = await again(withKeyOf(party, 'reader', request));
    return other.status === 304 ? other : reply;
  };
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
  {
    name: 'a key with one scope reads everything',
    within: /a key reads what/,
    says: /with jobs:read alone: 404 not_found, not 403 missing_scope|with jobs:read alone: 200/,
    request: asOther('with jobs:read alone', 'reader'),
  },
  {
    name: 'a key with one scope reads nothing',
    within: /a key reads what/,
    says: /with customers:read alone: 403 missing_scope, not 200/,
    request: asOther('with customers:read alone', 'without customers:read'),
  },
  {
    name: 'a scope that is missing closes everything',
    within: /a key reads what/,
    says: /without forms:read: 403 missing_scope, not 200/,
    request: asOther('without forms:read', 'with forms:read alone', (target) => !target.includes('/forms')),
  },
  {
    name: 'a module that is missing closes everything',
    within: /a key reads what/,
    says: /unlicensed for forms:read: 403 module_not_licensed, not 200/,
    request: asOther(
      'unlicensed for forms:read',
      'licensed for forms:read alone',
      (target) => !target.includes('/forms'),
    ),
  },
  {
    name: 'one module opens the others',
    within: /a key reads what/,
    says: /licensed for jobs:read alone: 200, not 403 module_not_licensed/,
    request: asOther('licensed for jobs:read alone', 'large'),
  },
  {
    name: 'one module does not open its own data',
    within: /a key reads what/,
    says: /licensed for people:read alone: 403 module_not_licensed, not 200/,
    request: asOther('licensed for people:read alone', 'unlicensed for people:read'),
  },
  {
    name: 'invoicing that is off closes the jobs too',
    within: /a key reads what/,
    says: /uninvoiced: 403 api_not_enabled, not 200/,
    request: asOther('uninvoiced', 'cut off', (target) => target.includes('/jobs')),
  },
  {
    name: 'the record is looked up before the key',
    within: /a key reads what/,
    says: /404 not_found, not 401 invalid_key/,
    reply: recordBefore(401),
  },
  {
    name: 'the record is looked up before the scope',
    within: /a key reads what/,
    says: /404 not_found, not 403 missing_scope/,
    reply: recordBefore(403),
  },
  {
    name: 'the record is looked up before invoicing',
    within: /a key reads what/,
    says: /404 not_found, not 503 invoicing_not_enabled/,
    reply: recordBefore(503),
  },
  {
    name: '304 for whoever knows the tag, without a key that works',
    within: /304 only for/,
    says: /revoked: 304, not 401/,
    reply: unchangedBefore(401),
  },
  {
    name: '304 for whoever knows the tag, without the scope',
    within: /304 only for/,
    says: /without jobs:read: 304, not 403/,
    reply: unchangedBefore(403),
  },
  {
    name: '304 for whoever knows the tag, of another company',
    within: /304 only for/,
    says: /neighbour: 304, not 404/,
    reply: unchangedBefore(404),
  },
  {
    name: "another company's PDF is given",
    within: /another company is not seen/,
    says: /pdf: another company's record is answered 200/,
    reply: (reply, request, again, party) =>
      reply.status === 404 && request.target.endsWith('/pdf')
        ? again(withKeyOf(party, 'neighbour', request))
        : reply,
  },
  {
    name: 'bearer in small letters is refused',
    within: /a key counts in one place/,
    says: /as bearer: 401 invalid_key, not 200/,
    request: withScheme(/^bearer /, 'none '),
  },
  {
    name: 'BEARER in capitals is refused',
    within: /a key counts in one place/,
    says: /as BEARER: 401 invalid_key, not 200/,
    request: withScheme(/^BEARER /, 'none '),
  },
  {
    name: 'a key is taken without its scheme',
    within: /a key counts in one place/,
    says: /200, not 401/,
    request: withScheme(/^(?=[^ ]+$)/, 'Bearer '),
  },
  {
    name: 'a key is taken with any scheme',
    within: /a key counts in one place/,
    says: /as Basic: 200, not 401/,
    request: withScheme(/^\w+ /, 'Bearer '),
  },
];
