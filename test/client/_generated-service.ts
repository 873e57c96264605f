/** A service that makes its answers as it is asked, so that any number of records needs no memory. */
import { company } from '../contract/_company.ts';

export interface GeneratedService {
  fetch: (request: Request) => Promise<Response>;
  /** The answers given so far, by status. */
  answers: Map<number, number>;
}

export interface GeneratedOptions {
  jobs: number;
  invoices: number;
  /** Requests in a minute. */
  quota?: number;
  /** Milliseconds of a clock; the window of the rate limit begins with its first request. */
  now?: () => number;
}

const PAGE = 100;
const idOf = (index: number) => `01a0a486-e8e0-7076-ace5-${index.toString(16).padStart(12, '0')}`;

/** Serves so many jobs and invoices; all other lists are empty. */
export function generatedService({
  jobs,
  invoices,
  quota = 1_000_000,
  now = () => performance.now(),
}: GeneratedOptions): GeneratedService {
  const counts: Record<string, number> = { jobs, invoices };
  const answers = new Map<number, number>();
  let window = { endsAt: -1, left: 0 };
  const answer = (status: number, body: object) => {
    answers.set(status, (answers.get(status) ?? 0) + 1);
    const seconds = Math.max(1, Math.ceil((window.endsAt - now()) / 1000));
    return new Response(JSON.stringify(body), {
      status,
      headers: {
        'Content-Type': 'application/json',
        Date: new Date('2026-11-20T12:00:00.000Z').toUTCString(),
        'RateLimit-Policy': `"default";q=${quota};w=60`,
        RateLimit: `"default";r=${Math.max(0, window.left)};t=${seconds}`,
        ...(status === 429 && { 'Retry-After': String(seconds) }),
      },
    });
  };
  return {
    answers,
    async fetch({ url }) {
      if (now() >= window.endsAt) window = { endsAt: now() + 60_000, left: quota };
      window.left -= 1;
      if (window.left < 0) return answer(429, { error: { code: 'rate_limited', message: 'Wait.' } });
      const { pathname, searchParams } = new URL(url);
      const [resource = '', id] = pathname.slice('/api/v1/'.length).split('/');
      if (id !== undefined) return answer(200, { data: { ...company.invoices[0], id } });
      const count = searchParams.get('status') === 'draft' ? 0 : (counts[resource] ?? 0);
      const first = Number(searchParams.get('cursor')?.slice(1) ?? 0);
      const size = Math.min(PAGE, count - first);
      const record = resource === 'jobs' ? company.jobs[0] : company.invoices[0];
      const data = Array.from({ length: Math.max(0, size) }, (_none, index) => ({
        ...record,
        id: idOf(first + index),
      }));
      const nextCursor = first + PAGE < count ? `1${first + PAGE}` : null;
      return answer(200, { data, nextCursor });
    },
  };
}
