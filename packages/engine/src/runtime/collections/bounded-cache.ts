/**
 * A map that forgets what was used longest ago: its entries weigh at most `limit` together, each 1 unless said otherwise, and the
 * newest of half that weight are always there. What weighs more than half of the limit is not kept.
 */
export interface BoundedCache<Key, Value> {
  get(key: Key): Value | undefined;
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

  function remove(key: Key): void {
    weight -= young.get(key)?.weight ?? 0;
    young.delete(key);
    old.delete(key);
  }

  function add(key: Key, entry: Entry<Value>): void {
    if (entry.weight > most) return remove(key);
    weight -= young.get(key)?.weight ?? 0;
    if (weight + entry.weight > most) {
      old = young;
      young = new Map();
      weight = 0;
    }
    young.set(key, entry);
    weight += entry.weight;
  }

  return {
    get(key) {
      const entry = young.get(key);
      if (entry !== undefined) return entry.value;
      const older = old.get(key);
      if (older !== undefined) add(key, older);
      return older?.value;
    },
    set: (key, value, own = 1) => add(key, { value, weight: own }),
    delete: remove,
  };
}
