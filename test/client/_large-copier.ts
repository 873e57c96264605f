/*
 * Copies the invoices of a service into a SQLite file, as a process of its own, and prints the most memory that this took
 * beside what Node and the modules take, in megabytes. Its arguments are the address of the service and the file.
 */
import { createClient } from '../../src/client/index.ts';
import { openSqliteCopy } from '../../src/client/sync/sqlite.ts';
import { sync } from '../../src/client/sync/sync.ts';

const [baseUrl = '', file = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, key: 'fl.large.0.x' });
const megabytes = () => process.resourceUsage().maxRSS / 1000;
const before = megabytes();
const sink = openSqliteCopy(file, { source: 'large' });
const { counts } = await sync(client, { sink, details: false });
const result = { put: counts.invoices?.put, more: megabytes() - before };
sink.close();
process.stdout.write(JSON.stringify(result));
