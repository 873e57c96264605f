/*
 * Sends an outbox table to the feed: its rows in their order, until each is answered. Copy it. It needs Node 24:
 *
 *     npm install https://api.fieldledger.example/client-1.0.0.tgz
 *     npm pkg set type=module        # where npm has made a package of type commonjs
 *     FEED_URL=https://feed.example.com FEED_TOKEN=fl-feed... OUTBOX=outbox.db node sender.ts
 *
 * Your system inserts a row in the transaction that changes something: `body` is a change of the feed as JSON, with its
 * `id`. One sender runs for a table. It can be killed at any moment: what was applied by then is skipped. A refused row
 * keeps its error, and the rows behind it go on: correct it and set its status to NULL, and it is sent again.
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

import { createFeedSender } from '@fieldledger/client/feed';

const { FEED_URL = '', FEED_TOKEN = '', OUTBOX } = process.env;
const db = new DatabaseSync(OUTBOX || 'outbox.db', { timeout: 5_000 });
db.exec(
  'CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, status TEXT, error TEXT)',
);
const findRows = db.prepare('SELECT id, body FROM outbox WHERE status IS NULL ORDER BY id LIMIT 100');
const keepAnswer = db.prepare('UPDATE outbox SET status = ?, error = ? WHERE id = ?');

const sender = createFeedSender({
  url: FEED_URL,
  token: FEED_TOKEN,
  // It waits for a feed that is away, however long.
  retryTimeMs: Infinity,
  onRetry: ({ message }) => console.error(message),
});
for (;;) {
  const rows = findRows.all() as { id: number; body: string }[];
  if (rows.length === 0) await pause(1_000);
  // A change is one line, and a blank line is none.
  const texts = rows.map(({ body }) => body.replaceAll(/[\r\n]/g, ' ').trim() || '"blank"');
  // It sends again what wasn't tried, and throws where sending again doesn't help, as for a revoked token.
  for await (const { answer } of sender.sendTexts(texts)) {
    const error = 'error' in answer ? JSON.stringify(answer.error) : null;
    keepAnswer.run(answer.status, error, rows.shift()?.id ?? null);
  }
}
