/*
 * The stand-in for tap in test files and their helpers (_plain-tap.cjs): the test of the file that runs, as several files run in one
 * process, one after another (_files.ts).
 */
import root, { type Test } from 'tap';

let current: Test = root;

/** Runs a file as one test of this process. */
export async function runFile(name: string, url: string): Promise<void> {
  await root.test(name, async (t) => {
    current = t;
    await import(url);
  });
}

// oxlint-disable-next-line no-restricted-exports -- tap has a default export.
export default new Proxy(root, {
  get(_, name) {
    const value: unknown = Reflect.get(current, name);
    return typeof value === 'function' ? (value.bind(current) as unknown) : value;
  },
});

export { root };
