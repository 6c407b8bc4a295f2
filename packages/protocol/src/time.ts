/** Milliseconds since the epoch as the protocol writes times: RFC 3339, UTC, three decimals. */
export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
