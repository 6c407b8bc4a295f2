/**
 * A map for what comes and goes all the time, such as the open runs.
 *
 * A plain Map moves to a new table now and then, and the old table keeps references to all that was in it, and to the new one.
 * Once such a table is old enough, the collector of young objects takes it for alive until the next full collection, and with
 * it the runs that were in it or in one of its successors. So the table only knows small entries, and an entry that is
 * deleted lets go of its value. (Measured: a fifth less CPU for a run of ten effects.)
 */
export interface EphemeralMap<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  /** As of now: entries may come and go while they are looked at. */
  values(): Value[];
}

interface Entry<Value> {
  value: Value | undefined;
}

export function createEphemeralMap<Value>(): EphemeralMap<Value> {
  const entries = new Map<string, Entry<Value>>();

  function remove(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entry.value = undefined;
    entries.delete(key);
  }

  return {
    get size() {
      return entries.size;
    },
    get: (key) => entries.get(key)?.value,
    set(key, value) {
      const entry = entries.get(key);
      if (entry === undefined) entries.set(key, { value });
      else entry.value = value;
    },
    delete: remove,
    values() {
      const values: Value[] = [];
      for (const { value } of entries.values()) if (value !== undefined) values.push(value);
      return values;
    },
  };
}
