/** Chance that a seed fixes: the same seed gives the same draws on every machine. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** Both ends included. */
  int(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: readonly Item[]): Item[];
  /** A source of its own, so that one consumer's draws do not move another's. */
  fork(name: string): Random;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;

  /** Mulberry32: small, and good enough to choose faults. */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick<Item>(items: readonly Item[]): Item {
      if (items.length === 0) throw new RangeError('there is nothing to pick from');
      return items[int(0, items.length - 1)] as Item;
    },
    shuffle<Item>(items: readonly Item[]): Item[] {
      const drawn = items.map((item) => ({ item, at: next() }));
      return drawn.sort((a, b) => a.at - b.at).map(({ item }) => item);
    },
    fork: (name) => randomOf(hash(`${seed}/${name}`)),
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const letter of text) value = Math.imul(value ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
