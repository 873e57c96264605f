import { COMPANY, customerId, jobId, KEY_PREFIX } from './_company.ts';

/** A key of the right form that nobody holds. */
export const WRONG_KEY = `${KEY_PREFIX}.${COMPANY}.unknown.${'A'.repeat(43)}`;
/** What the contract answers it with. */
export const WRONG_KEY_BODY = JSON.stringify({
  error: { code: 'invalid_key', message: 'The API key is missing or wrong.' },
});

/** A request that all sides are asked. */
export interface Question {
  name: string;
  path: string;
  status: number;
  headers: Record<string, string>;
}

/** The requests of the comparison. @param etag is of the one record. */
export function questionsOf(key: string, jobs: number, etag: string): Question[] {
  const headers = { authorization: `Bearer ${key}` };
  const record = `/api/v1/jobs/${jobId(Math.ceil(jobs / 2))}`;
  const filtered = `/api/v1/invoices?kind=invoice&customer=${customerId(3)}&limit=50`;
  return [
    { name: 'one record', path: record, status: 200, headers },
    { name: 'a page of 50', path: '/api/v1/jobs?limit=50', status: 200, headers },
    { name: 'a page of 100', path: '/api/v1/jobs?limit=100', status: 200, headers },
    { name: 'a filtered page of 50', path: filtered, status: 200, headers },
    { name: 'a 304', path: record, status: 304, headers: { ...headers, 'if-none-match': etag } },
    { name: 'a 401', path: record, status: 401, headers: { authorization: `Bearer ${WRONG_KEY}` } },
  ];
}
