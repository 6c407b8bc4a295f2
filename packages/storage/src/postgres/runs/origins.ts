import type { CreationRecord } from '@weft/engine';
import { originText, recordText, restText, sumOfRecord } from './codec.ts';
import { migration0004 } from '../connections/migrations/0004-origins.ts';
import { nowSql } from '../connections/now.ts';
import type { Pool } from '../connections/pool.ts';
import { readRows } from './read-rows.ts';

/** A creation record as two columns. */
export interface StoredRecord {
  /** Number of what it has in common with others; null when all of it stands in `record`. */
  readonly origin: number | null;
  readonly record: string;
  readonly sum: number;
}

export interface Origins {
  stored(record: CreationRecord): StoredRecord;
}

/** More than there are versions of workflows in use at the same time. */
const MOST_KNOWN = 1_000;
/** What is longer fits no index, and would hardly be shared. */
const LONGEST = 2_000;
const ASK_AGAIN_MS = 5_000;
/** A process that slept for so long is taken for gone. */
const SILENCE_MS = 60_000;

/** Answers nothing while another writer is writing the same. */
const LEARN = `
  WITH fresh AS (INSERT INTO origins (body) VALUES ($1::text) ON CONFLICT (body) DO NOTHING RETURNING id)
  SELECT id FROM fresh UNION ALL SELECT id FROM origins WHERE body = $1::text`;

const OLDER = `SELECT 1 FROM holders
  WHERE coalesce(schema, 0) < ${migration0004.version} AND deadline > ${nowSql(1)} - ${SILENCE_MS} LIMIT 1`;

/**
 * Numbers of what many creation records have in common. A number is asked for outside the commits, which do not wait for it: until it
 * is known, and while a process of an older program may be reading, records are stored whole.
 */
export function prepareOrigins(pool: Pool, clock: (() => number) | undefined): Origins {
  const known = new Map<string, number>();
  let isAsking = false;
  let noOlder = false;
  let notBefore = 0;

  async function learn(text: string): Promise<void> {
    if (!noOlder) noOlder = (await readRows(pool, OLDER, [clock?.() ?? null])).length === 0;
    if (!noOlder) return;
    const [row] = await readRows<{ id: number }>(pool, LEARN, [text]);
    const oldest = known.keys().next();
    if (known.size >= MOST_KNOWN && !oldest.done) known.delete(oldest.value);
    if (row) known.set(text, row.id);
  }

  function askFor(text: string): void {
    if (isAsking || performance.now() < notBefore || text.length > LONGEST) return;
    isAsking = true;
    learn(text)
      .catch(() => {
        // Nothing depends on it; the next run asks again.
        notBefore = performance.now() + ASK_AGAIN_MS;
      })
      .finally(() => {
        isAsking = false;
        if (!noOlder) notBefore = performance.now() + ASK_AGAIN_MS;
      });
  }

  return {
    stored(record) {
      const text = originText(record);
      const origin = known.get(text);
      if (origin !== undefined) return storedRecord(record, origin, text);
      askFor(text);
      return storedRecord(record);
    },
  };
}

/** With the text of its origin, or whole. */
export function storedRecord(
  record: CreationRecord,
  origin: number | null = null,
  shared: string | null = null,
): StoredRecord {
  const text = shared === null ? recordText(record) : restText(record);
  return { origin, record: text, sum: sumOfRecord(record, shared, text) };
}
