import { type RawBuilder, sql } from 'kysely';

/** Classes of HTTP statuses that lists can be filtered by. */
export const statusClasses = ['2xx', '3xx', '4xx', '5xx'];

/** Returns the SQL condition for a status that was chosen, or for its class, such as `4xx`. */
export function hasStatus(status: RawBuilder<unknown>, chosen: string): RawBuilder<boolean> {
  const [min, max] = [chosen.replace('xx', '00'), chosen.replace('xx', '99')].map(Number);
  return sql`${status} BETWEEN ${min} AND ${max}`;
}
