/** Many rows as one statement: each column travels as one parameter, and the server puts the rows together again. */

export type Scalar = string | number | boolean | null | Uint8Array;

/** A column, its type, and where a row's value for it comes from. `json`: JSON text, kept in a `text` column. */
export type Column<Row> = readonly [name: string, type: string, read: (row: Row) => Scalar];

export interface Statement {
  readonly text: string;
  readonly values: readonly Scalar[];
}

/** Spelled as PostgreSQL reads an array: the client then needs to know nothing of array types. */
export function arrayText(values: readonly Scalar[]): string {
  return columnText(values, (value) => value);
}

function columnText<Row>(rows: readonly Row[], read: (row: Row) => Scalar): string {
  let text = '{';
  let comma = '';
  for (const row of rows) {
    text += comma + elementText(read(row));
    comma = ',';
  }
  return `${text}}`;
}

function elementText(value: Scalar): string {
  if (value === null) return 'NULL';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return quoted(value);
  return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`;
}

/** Most texts have nothing to escape, and looking for it is cheaper than replacing it. */
function quoted(text: string): string {
  const isPlain = !text.includes('"') && !text.includes('\\');
  return `"${isPlain ? text : text.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * JSON text is full of quotes, each of which would have to be escaped in an array; but no control character stands in it as it
 * is. So one of them may part the texts, and another one may mean that there is none.
 */
const SEPARATOR = '\x1f';
const NOTHING = '\x1e';

function jsonList<Row>(rows: readonly Row[], read: (row: Row) => Scalar): string {
  let text = '';
  let separator = '';
  for (const row of rows) {
    text += separator + String(read(row) ?? NOTHING);
    separator = SEPARATOR;
  }
  return text;
}

/** `unnest($1::uuid[], $2::text[], …)`: the rows as a table. `first` is the number of its first parameter. */
export function unnested<Row>(columns: readonly Column<Row>[], first = 1): string {
  const arrays = columns.map(([, type], index) => {
    const parameter = `$${first + index}`;
    return type === 'json'
      ? `string_to_array(${parameter}::text, chr(31), chr(30))`
      : `${parameter}::${type}[]`;
  });
  return `unnest(${arrays.join(', ')})`;
}

export function columnArrays<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  return columns.map(([, type, read]) => (type === 'json' ? jsonList(rows, read) : columnText(rows, read)));
}

export function columnNames(columns: readonly Column<never>[]): string {
  return columns.map(([name]) => name).join(', ');
}

/** INSERT of any number of rows; `tail` says what happens to those that are there already. */
export function insertInto<Row>(
  table: string,
  columns: readonly Column<Row>[],
  tail = '',
): (rows: readonly Row[]) => Statement {
  const text = `INSERT INTO ${table} (${columnNames(columns)}) SELECT * FROM ${unnested(columns)} ${tail}`;
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
