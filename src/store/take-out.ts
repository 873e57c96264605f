/**
 * Takes all out of a list that came with a promise, for the next one to have it alone. A promise that has waited for
 * PostgreSQL has grown old, and V8 looks much later for old ones that nobody needs any more than for young ones: until
 * then whatever they brought grows old with them. That took a busy server a third of its time.
 */
export function takeOut<T>(list: T[]): T[] {
  return list.splice(0);
}
