/**
 * Money without drift. Prices are whole picodollars a token, costs whole nanodollars. On the wire a cost is the JSON number of dollars
 * that has at most nine decimals; up to `MOST_NANO_USD` it leads back to the same nanodollars.
 */
export const PICO_PER_NANO = 1_000n;
/** Two million dollars. */
export const MOST_NANO_USD = 2e15;
const NANO_PER_USD = 1_000_000_000;

export function toNanoUsd(usd: number): number {
  return Math.round(usd * NANO_PER_USD);
}

export function fromNanoUsd(nano: number): number {
  return nano / NANO_PER_USD;
}

/** Dollars as decimal text, for sums of any size. */
export function usdText(nano: bigint): string {
  const digits = nano.toString().padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '');
}

const DECIMAL = /^(\d{1,7})(?:\.(\d{1,6}))?$/;

/** Dollars a million tokens, at most a million of them with six decimals, as picodollars a token; undefined where the text is none. */
export function picoPerToken(usdPerMillion: string): number | undefined {
  const [, whole, fraction = ''] = DECIMAL.exec(usdPerMillion) ?? [];
  if (whole === undefined) return undefined;
  const pico = Number(`${whole}${fraction.padEnd(6, '0')}`);
  return pico <= 1e12 ? pico : undefined;
}
