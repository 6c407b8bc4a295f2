import type { Connection } from '../file/connection.ts';

const RUN_ID_BYTES = 16;

/** A run whose id is damaged can be named to no one: it is left out, so that the others stay reachable, and reported. */
export function withoutNameless<Row extends { readonly id: Uint8Array }>(
  { damaged }: Pick<Connection, 'damaged'>,
  rows: readonly Row[],
): Row[] {
  const named = rows.filter(({ id }) => id instanceof Uint8Array && id.length === RUN_ID_BYTES);
  if (named.length < rows.length) damaged(new Error('The id of a run is damaged.'));
  return named;
}
