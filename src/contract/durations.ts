/** Milliseconds in a minute, and below in an hour and a day, which always has 24 hours, even if the clocks change. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Days for which deliveries and their results remain listed (openapi.yaml, "Send again"). */
export const HISTORY_DAYS = 30;
export const HISTORY_MS = HISTORY_DAYS * DAY_MS;
