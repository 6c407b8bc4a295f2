import type { Figure } from '../report/results.ts';

/** Collects figures round by round. */
export interface Tally {
  add(key: string, about: About, value: number | undefined): void;
  /** The other side of the relation, in the same round. */
  against(key: string, title: string, value: number | undefined): void;
  figures(): Figure[];
}

export type About = Pick<Figure, 'title' | 'unit' | 'better'>;

interface Entry extends About {
  readonly values: number[];
}

export function createTally(): Tally {
  const entries = new Map<string, Entry>();
  const others = new Map<string, { readonly title: string; readonly values: number[] }>();
  return {
    add(key, about, value) {
      if (value === undefined || Number.isNaN(value)) return;
      const entry = entries.get(key) ?? { ...about, values: [] };
      entry.values.push(value);
      entries.set(key, entry);
    },
    against(key, title, value) {
      if (value === undefined || Number.isNaN(value)) return;
      const other = others.get(key) ?? { title, values: [] };
      other.values.push(value);
      others.set(key, other);
    },
    figures: () =>
      [...entries].map(([key, entry]) => {
        const against = others.get(key);
        return { key, ...entry, ...(against === undefined ? {} : { against }) };
      }),
  };
}
