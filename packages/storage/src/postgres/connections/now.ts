/**
 * The store's clock in milliseconds: that of the database, unless the parameter carries the one of a test. It is the start of
 * the statement, which an index may be searched by; a statement that waited for a lock evaluates deadlines as of before its wait,
 * that is, in favour of the holder.
 */
export function nowSql(parameter: number): string {
  return `coalesce($${parameter}::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)`;
}
