/** Many rows as one statement: each column travels as one array parameter, and the server puts the rows together again. */

export type Scalar = string | number | boolean | null | Uint8Array;

/** A column, its type, and where a row's value for it comes from. */
export type Column<Row> = readonly [name: string, type: string, read: (row: Row) => Scalar];

export interface Statement {
  readonly text: string;
  readonly values: readonly Scalar[];
}

/** Spelled as PostgreSQL reads an array: the client then needs to know nothing of array types. */
export function arrayText(values: readonly Scalar[]): string {
  return `{${values.map(elementText).join(',')}}`;
}

function elementText(value: Scalar): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `"${value.replace(/["\\]/g, '\\$&')}"`;
  return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`;
}

/** `unnest($1::uuid[], $2::text[], …)`: the rows as a table. */
export function unnested<Row>(columns: readonly Column<Row>[]): string {
  return `unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')})`;
}

export function columnArrays<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  return columns.map(([, , read]) => arrayText(rows.map(read)));
}

/** INSERT of any number of rows; `tail` says what happens to those that are there already. */
export function insertInto<Row>(
  table: string,
  columns: readonly Column<Row>[],
  tail = '',
): (rows: readonly Row[]) => Statement {
  const names = columns.map(([name]) => name).join(', ');
  const text = `INSERT INTO ${table} (${names}) SELECT * FROM ${unnested(columns)} ${tail}`;
  return (rows) => ({ text, values: columnArrays(columns, rows) });
}

/** UPDATE of any number of rows, found by the first `keys` columns. */
export function updateRows<Row>(
  table: string,
  keys: number,
  columns: readonly Column<Row>[],
  condition = '',
): (rows: readonly Row[]) => Statement {
  const names = columns.map(([name]) => name);
  const sets = names.slice(keys).map((name) => `${name} = changed.${name}`);
  const matches = names.slice(0, keys).map((name) => `${table}.${name} = changed.${name}`);
  const text =
    `UPDATE ${table} SET ${sets.join(', ')} FROM ${unnested(columns)} AS changed (${names.join(', ')}) ` +
    `WHERE ${matches.join(' AND ')} ${condition}`;
  return (rows) => ({ text, values: columnArrays(columns, rows) });
}
