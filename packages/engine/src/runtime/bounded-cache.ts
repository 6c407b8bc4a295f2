/** A map that forgets what was used longest ago: at most `limit` in weight, and always the newest half of that much. */
export interface BoundedCache<Key, Value> {
  get(key: Key): Value | undefined;
  /** An entry weighs 1 unless it says otherwise. */
  set(key: Key, value: Value, weight?: number): void;
  delete(key: Key): void;
}

interface Entry<Value> {
  readonly value: Value;
  readonly weight: number;
}

/**
 * In two generations: what is used moves to the young one, and when that is full the old one is dropped whole. Dropping the
 * oldest entry each time would be slow, because a Map that is emptied at one end has to be walked over what is gone.
 */
export function createBoundedCache<Key, Value>(limit: number): BoundedCache<Key, Value> {
  const most = Math.max(Math.floor(limit / 2), 1);
  let young = new Map<Key, Entry<Value>>();
  let old = new Map<Key, Entry<Value>>();
  let weight = 0;

  function put(key: Key, entry: Entry<Value>): void {
    weight -= young.get(key)?.weight ?? 0;
    if (weight + entry.weight > most && young.size > 0) {
      old = young;
      young = new Map();
      weight = 0;
    }
    weight += entry.weight;
    young.set(key, entry);
  }

  return {
    get(key) {
      const entry = young.get(key);
      if (entry !== undefined) return entry.value;
      const older = old.get(key);
      if (older !== undefined) put(key, older);
      return older?.value;
    },
    set: (key, value, entryWeight = 1) => put(key, { value, weight: entryWeight }),
    delete(key) {
      weight -= young.get(key)?.weight ?? 0;
      young.delete(key);
      old.delete(key);
    },
  };
}
