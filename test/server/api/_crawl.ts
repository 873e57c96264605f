import type { TestServer } from '../../_server.ts';

export interface ListedRecord {
  id: string;
}

export interface ListPage {
  data: ListedRecord[];
  nextCursor: string | null;
}

export type Query = Readonly<Record<string, string>>;

/** Reads one page. @throws Error when the answer isn't 200. */
export async function readPage(
  server: Pick<TestServer, 'http'>,
  key: string,
  path: string,
  query: Query,
): Promise<ListPage> {
  const address = `${path}?${new URLSearchParams(query).toString()}`;
  const { statusCode, body } = await server.http(address, {
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' },
  });
  if (statusCode !== 200) throw new Error(`GET /${address} answers ${statusCode}: ${body}`);
  return JSON.parse(body) as ListPage;
}

/** More pages than this are a crawl that doesn't end. */
const PAGES_MAX = 5_000;

export interface Crawl {
  records: ListedRecord[];
  pageSizes: number[];
}

export interface CrawlOptions {
  path: string;
  query: Query;
  /** The `limit` of each page, the last one again and again: a crawl may change it as it goes. */
  limits: readonly [number, ...number[]];
  /** Is awaited after each page. */
  onPage?: (pages: number) => Promise<void>;
}

/** Follows a list to its end. */
export async function crawl(
  server: Pick<TestServer, 'http'>,
  key: string,
  { path, query, limits, onPage }: CrawlOptions,
): Promise<Crawl> {
  const records: ListedRecord[] = [];
  const pageSizes: number[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    if (pageSizes.length >= PAGES_MAX) throw new Error(`The crawl of ${path} has no end.`);
    const limit = limits[Math.min(pageSizes.length, limits.length - 1)] ?? limits[0];
    const given = cursor === undefined ? query : { ...query, cursor };
    const page = await readPage(server, key, path, { ...given, limit: String(limit) });
    records.push(...page.data);
    pageSizes.push(page.data.length);
    cursor = page.nextCursor;
    await onPage?.(pageSizes.length);
  }
  return { records, pageSizes };
}

/** The sizes of the pages in which a list of `count` records comes: full ones, and the rest on the last. */
export function fullPages(count: number, limit: number): number[] {
  if (count === 0) return [0];
  const sizes = Array.from({ length: Math.ceil(count / limit) }, () => limit);
  sizes[sizes.length - 1] = count - limit * (sizes.length - 1);
  return sizes;
}
