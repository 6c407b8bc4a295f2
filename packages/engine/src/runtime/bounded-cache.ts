/** A map that forgets what was used longest ago: at most `limit` entries, and always the newest half of that many. */
export interface BoundedCache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
}

/**
 * In two generations: what is used moves to the young one, and when that is full the old one is dropped whole. Dropping the
 * oldest entry each time would be slow, because a Map that is emptied at one end has to be walked over what is gone.
 */
export function createBoundedCache<Key, Value>(limit: number): BoundedCache<Key, Value> {
  const most = Math.max(Math.floor(limit / 2), 1);
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();

  function set(key: Key, value: Value): void {
    if (young.size >= most && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
  };
}
