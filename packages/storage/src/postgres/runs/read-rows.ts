import { isStorable } from '@weft/engine';
import type { Pool } from '../connections/pool.ts';
import type { Scalar } from './rows.ts';

/** One statement outside of any transaction. What cannot be stored was not, so nothing is found by it. */
export async function readRows<Row>(
  pool: Pool,
  text: string,
  values: readonly Scalar[],
): Promise<readonly Row[]> {
  if (values.some((value) => typeof value === 'string' && !isStorable(value))) return [];
  return pool.use((connection) => connection.query<Row>(text, values));
}
