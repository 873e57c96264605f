/** Returns a function that caches the result for each key. Results are never evicted, so there must be only a few keys. */
export function memoized<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const computed = new Map<Key, Value>();
  return (key) => {
    const known = computed.get(key);
    if (known !== undefined) return known;
    const value = compute(key);
    computed.set(key, value);
    return value;
  };
}
