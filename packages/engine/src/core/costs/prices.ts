import type { Usage } from '../../ports/models.ts';
import { MOST_NANO_USD, PICO_PER_NANO } from './money.ts';

/** Of one model, in picodollars a token. What is absent is not known. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** By `PROVIDER/MODEL`. */
export type Prices = ReadonlyMap<string, Price>;

/** A model is known by the name that it gives itself, or by the one it was asked for. */
export function findPrice(
  lists: readonly Prices[],
  provider: string,
  names: readonly (string | undefined)[],
): Price | undefined {
  for (const name of names) {
    if (name === undefined) continue;
    for (const prices of lists) {
      const price = prices.get(`${provider}/${name}`);
      if (price !== undefined) return price;
    }
  }
  return undefined;
}

/** In nanodollars; undefined where a part of it has no price, or the provider did not say what was used. */
export function costOf(usage: Usage, price: Price | undefined): number | undefined {
  if (price === undefined || usage.totalTokens === 0) return undefined;
  const { promptTokens, completionTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const parts: [tokens: number, price: number | undefined][] = [
    [Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens), price.input],
    [completionTokens, price.output],
    [cacheReadTokens, price.cacheRead],
    [cacheWriteTokens, price.cacheWrite],
  ];
  let pico = 0n;
  for (const [tokens, each] of parts) {
    if (tokens === 0) continue;
    if (each === undefined) return undefined;
    pico += BigInt(tokens) * BigInt(each);
  }
  const nano = Number((pico + PICO_PER_NANO / 2n) / PICO_PER_NANO);
  return nano <= MOST_NANO_USD ? nano : undefined;
}
