/** Both projections of clean evidence in the obvious way, on strings, as a second opinion for the tables of bytes. */
import { CATEGORIES } from '../contract/vocabulary.ts';

export interface PlainSurface {
  readonly [category: string]: readonly string[];
}

export function plainParts(base: PlainSurface, head: PlainSurface, prefixes?: readonly [string, string]) {
  return Object.fromEntries(
    CATEGORIES.map((category) => {
      const isPath = category === 'filesystem_paths' && prefixes !== undefined;
      const before = new Set(
        (base[category] ?? []).map((value) => (isPath ? canonical(value, prefixes[0]) : value)),
      );
      const after = new Set(
        (head[category] ?? []).map((value) => (isPath ? canonical(value, prefixes[1]) : value)),
      );
      return [
        category,
        {
          added: sorted([...after].filter((value) => !before.has(value))),
          removed: sorted([...before].filter((value) => !after.has(value))),
          unchanged: sorted([...before].filter((value) => after.has(value))),
        },
      ];
    }),
  );
}

function canonical(path: string, prefix: string): string {
  return path.startsWith(prefix) ? `<work>/${path.slice(prefix.length)}` : path;
}

/** By code points, spelled out. */
export function sorted(values: readonly string[]): string[] {
  return [...values].sort((left, right) => {
    const a = [...left].map((unit) => unit.codePointAt(0) ?? 0);
    const b = [...right].map((unit) => unit.codePointAt(0) ?? 0);
    const at = a.findIndex((code, index) => code !== b[index]);
    if (at === -1) return a.length - b.length;
    return (a[at] ?? 0) - (b[at] ?? -1);
  });
}

/** The layout of the contract, by way of JSON.stringify. */
export function plainText(value: unknown): string {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `${JSON.stringify(value, null, 2).replace(/[\u007f-\uffff]/g, escape)}\n`;
}
