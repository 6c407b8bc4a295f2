/** A map that forgets what was used longest ago once it holds more than `limit` entries. */
export interface BoundedCache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
}

export function createBoundedCache<Key, Value>(limit: number): BoundedCache<Key, Value> {
  // A Map remembers the order of insertion, so its first key is the one used longest ago.
  const entries = new Map<Key, Value>();
  return {
    get(key) {
      const value = entries.get(key);
      // Order matters only when something is about to be forgotten.
      if (value === undefined || entries.size < limit / 2) return value;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= limit) return;
      const oldest = entries.keys().next();
      if (oldest.done !== true) entries.delete(oldest.value);
    },
    delete(key) {
      entries.delete(key);
    },
  };
}
