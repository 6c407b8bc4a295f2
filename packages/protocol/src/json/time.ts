let lastMs = Number.NaN;
let lastText = '';

/** Milliseconds since the epoch as the protocol writes times: RFC 3339, UTC, three decimals. */
export function toIso(ms: number): string {
  // The events of one batch share their time, so the last answer is very often the next one.
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}
