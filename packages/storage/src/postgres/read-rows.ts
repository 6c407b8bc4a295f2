import type { Pool } from './pool.ts';
import type { Scalar } from './rows.ts';

/** One statement outside of any transaction. PostgreSQL keeps no text with a NUL in it, so nothing is found by such a one. */
export async function readRows<Row>(
  pool: Pool,
  text: string,
  values: readonly Scalar[],
): Promise<readonly Row[]> {
  if (values.some((value) => typeof value === 'string' && value.includes('\0'))) return [];
  return pool.use((connection) => connection.query<Row>(text, values));
}
