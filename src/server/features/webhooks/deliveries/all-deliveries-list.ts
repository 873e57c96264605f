import type { Connection } from '../../../store/dialects/dialect.ts';
import {
  type DeliveryFilter,
  isOfFewEvents,
  type ListedPage,
  type ListedWebhook,
  LOOKED_AT_MAX,
  type PageOptions,
  type Scanned,
  scanDeliveries,
  type ScannedRow,
  scanEvents,
} from './deliveries-list.ts';
import { type DeliveryRecord, withAttempts } from './delivery-details.ts';

/**
 * Lists the deliveries of a company's webhooks that match a filter, newest first, each beside its webhook. A page may be a
 * little longer than `countMax`.
 * @param webhooks the oldest first.
 */
export async function listAllDeliveries<Of extends ListedWebhook>(
  db: Connection,
  webhooks: readonly Of[],
  filter: DeliveryFilter,
  page: PageOptions,
): Promise<Omit<ListedPage, 'deliveries'> & { rows: (readonly [Of, DeliveryRecord])[] }> {
  const bounded = { ...page, lookedAtMax: Math.ceil(LOOKED_AT_MAX / Math.max(1, webhooks.length)) };
  const { rows: scanned, ...end } = await scanAll(db, webhooks, filter, bounded);
  const rows: (readonly [Of, DeliveryRecord])[] = [];
  for (const of of webhooks) {
    const own = scanned.filter(({ webhook }) => webhook === of.webhook);
    rows.push(...(await withAttempts(db, of, own)).map((delivery) => [of, delivery] as const));
  }

  return { rows: rows.sort(([, one], [, other]) => (one.id < other.id ? 1 : -1)), ...end };
}

/** Scans few events, or else the deliveries of each webhook: the page ends then where the first of these scans does. */
async function scanAll(
  db: Connection,
  webhooks: readonly ListedWebhook[],
  filter: DeliveryFilter,
  page: PageOptions,
): Promise<Scanned> {
  const [oldest] = webhooks;
  if (oldest && isOfFewEvents(filter)) {
    const ids = webhooks.map(({ webhook }) => webhook);
    return scanEvents(db, oldest, filter, page, ids);
  }
  const found: ScannedRow[] = [];
  let end = '';
  for (const of of webhooks) {
    const { rows, before = '' } = await scanDeliveries(db, of, filter, page);
    found.push(...rows);
    if (before > end) end = before;
  }
  found.sort((one, other) => (one.id < other.id ? 1 : -1));
  const last = found.length > page.countMax ? (found[page.countMax - 1]?.id ?? '') : '';
  if (last > end) end = last;
  const rows = found.filter(({ id }) => id >= end);
  return { rows, before: end || undefined, isCutShort: end !== '' && rows.length < page.countMax };
}
