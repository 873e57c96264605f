/** A function that computes a value once for each key. The keys must be few: their values are kept for good. */
export function computedOnce<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const computed = new Map<Key, Value>();
  return (key) => {
    const known = computed.get(key);
    if (known !== undefined) return known;
    const value = compute(key);
    computed.set(key, value);
    return value;
  };
}
