import t from 'tap';

import { exchangeRaw } from './server/api/_raw.ts';
import { startExampleServer } from './_server.ts';

/** Something of everything that a server answers: name, request line with headers, and status. */
function requests(key: string, etag: string): [name: string, request: string, status: number][] {
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
  const authorization = `Authorization: Bearer ${key}\r\n`;
  return [
    ['a page of records', get('/api/v1/jobs', authorization), 200],
    ['a compressed one', get('/api/v1/jobs', `${authorization}Accept-Encoding: gzip\r\n`), 200],
    ['nothing new', get('/api/v1/jobs', `${authorization}If-None-Match: ${etag}\r\n`), 304],
    ['a refusal', get('/api/v1/jobs'), 401],
    ['a wrong parameter', get('/api/v1/jobs?limit=0', authorization), 400],
    ['a PDF', get('/api/v1/invoices/01a0a486-e8e0-7076-ace5-e31611d48e0a/pdf', authorization), 200],
    ['another method', 'DELETE /api/v1/jobs HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['no path of the API', get('/api/v9'), 404],
    ['no path at all', get('/nowhere'), 404],
    ['a page of the portal', get('/portal/sign-in'), 200],
    ['a redirection of the portal', get('/portal'), 303],
    ['no page of the portal', get('/portal/nothing'), 404],
    ['a page for operators', get('/healthz'), 200],
    ['another', get('/readyz'), 200],
    ['the contract', get('/openapi.json'), 200],
    ['the contract as YAML', get('/openapi.yaml'), 200],
    ['the redirection to the reference', get('/'), 302],
    ['what is not HTTP', 'nonsense\r\n\r\n', 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['an expectation', get('/healthz', 'Expect: 200-maybe\r\n'), 200],
  ];
}

const SERVED: [baseUrl: string, hstsSubdomains: boolean, insists: string | undefined][] = [
  ['http://127.0.0.1', true, undefined],
  ['https://api.acme.example', false, 'max-age=31536000'],
  ['https://api.acme.example', true, 'max-age=31536000; includeSubDomains'],
];

t.test(
  'no answer is guessed at, framed or run by a browser, nor tells others its address; with https browsers keep to https',
  async (t) => {
    for (const [baseUrl, hstsSubdomains, insists] of SERVED) {
      await using server = await startExampleServer('sqlite', { baseUrl, hstsSubdomains });
      const headers = { authorization: `Bearer ${server.key}` };
      const { etag = '' } = (await server.http('api/v1/jobs', { headers })).headers;
      for (const [name, request, status] of requests(server.key, etag)) {
        // A PDF takes as long as all others together, and is asked for where all headers are set.
        if (name === 'a PDF' && !insists?.includes('include')) continue;
        const [answer] = await exchangeRaw(server.url, request);
        t.equal(answer?.status, status, `${baseUrl}: ${name}`);
        t.equal(answer?.headers['x-content-type-options'], 'nosniff', `${baseUrl}: ${name}`);
        t.match(answer?.headers['content-security-policy'], "default-src 'none'", `${baseUrl}: ${name}`);
        t.match(answer?.headers['content-security-policy'], "frame-ancestors 'none'", `${baseUrl}: ${name}`);
        t.match(answer?.headers['referrer-policy'], /^(?:no-referrer|same-origin)$/, `${baseUrl}: ${name}`);
        t.equal(answer?.headers['strict-transport-security'], insists, `${baseUrl}: ${name}`);
        t.match(answer?.headers['x-request-id'], /^[0-9a-f-]{36}$/, `${baseUrl}: ${name}`);
        t.strictSame(answer?.repeated, [], `${baseUrl}: ${name} has each header once`);
      }
    }
  },
);
