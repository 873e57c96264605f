import { inHeaders } from './_planting.ts';
import type { Defect } from './_proxy.ts';

/** Has the server see another Accept-Encoding. */
function encoding(seen: (accepted: string) => boolean, taken: string): NonNullable<Defect['request']> {
  return (request) => {
    const accepted = request.headers['accept-encoding'];
    return accepted !== undefined && seen(accepted)
      ? { ...request, headers: { ...request.headers, 'accept-encoding': taken } }
      : request;
  };
}

/** Defects in the headers of every answer, in how compression is asked for, and in methods. */
export const headerDefects: readonly Defect[] = [
  {
    name: 'Date is missing',
    says: /the header date is missing/,
    reply: inHeaders(200, (headers) => ({ ...headers, date: undefined })),
  },
  {
    name: 'Date is missing on an error',
    says: /the header date is missing/,
    reply: inHeaders(404, (headers) => ({ ...headers, date: undefined })),
  },
  {
    name: 'Date is an hour behind',
    says: /the header date is 3[56]\d\d seconds off/,
    reply: inHeaders(200, (headers) => ({
      ...headers,
      date: new Date(Date.now() - 3_600_000).toUTCString(),
    })),
  },
  {
    name: 'Date has another form',
    says: /the header date has another form/,
    reply: inHeaders(200, (headers) => ({ ...headers, date: new Date().toISOString() })),
  },
  {
    name: 'X-Request-Id is the same each time',
    within: /each answer has a name/,
    says: /was named before/,
    reply: inHeaders(200, (headers) => ({ ...headers, 'x-request-id': 'req_1' })),
  },
  {
    name: 'X-Request-Id is the same on all errors',
    within: /each answer has a name/,
    says: /was named before/,
    reply: inHeaders(404, (headers) => ({ ...headers, 'x-request-id': 'req_1' })),
  },
  {
    name: 'gzip;q=0 is taken for gzip',
    within: /a compressed body/,
    says: /Accept-Encoding gzip;q=0 .* gzip/,
    request: encoding((accepted) => accepted === 'gzip;q=0', 'gzip'),
  },
  {
    name: 'gzip is sent whatever is accepted',
    within: /a compressed body/,
    says: /Accept-Encoding \S+ is answered with gzip/,
    request: encoding((accepted) => !accepted.includes('gzip'), 'gzip'),
  },
  {
    name: 'GZIP in capitals is not known',
    within: /a compressed body/,
    says: /Accept-Encoding GZIP is answered with identity/,
    request: encoding((accepted) => accepted === 'GZIP', 'identity'),
  },
  {
    name: 'a method that is seldom used is served as GET is',
    within: /405 with Allow/,
    says: /QUERY .* the status is 200, not 405/,
    request: (request) => (request.method === 'QUERY' ? { ...request, method: 'GET' } : request),
  },
  {
    name: 'a method that nobody knows gets an answer without a body',
    within: /405 with Allow/,
    says: /BREW .*the header content-type is missing|BREW .*the media type is none/,
    unparsed: () => 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n',
  },
  {
    name: 'a method in small letters is served',
    within: /405 with Allow/,
    says: /get .*the status is 200/,
    unparsed: (sent) => sent.replace(/^get /, 'GET '),
  },
];
