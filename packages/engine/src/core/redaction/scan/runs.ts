import { firstOf, runEnd } from './alphabets.ts';
import type { Work } from './work.ts';

/** As many runs as one shape looks at one after another, and some more. */
const KEPT = 8;

interface KnownRun {
  readonly start: number;
  readonly end: number;
}

/**
 * Where runs of characters end in one text. From every place inside a run its end is the same, so a run is gone through once,
 * however many places inside it are asked for: this is what keeps the scan linear on texts like `eyJ-eyJ-eyJ-…`.
 *
 * A class because one is made for nearly every event, and most are asked for nothing.
 */
export class Runs {
  readonly #text: string;
  readonly #work: Work | undefined;
  #known: Map<number, KnownRun[]> | undefined;
  #firsts: Map<number, KnownRun> | undefined;

  constructor(text: string, work: Work | undefined) {
    this.#text = text;
    this.#work = work;
  }

  endOf(alphabet: number, from: number): number {
    this.#known ??= new Map();
    const runs = this.#known.get(alphabet) ?? [];
    for (const run of runs) if (run.start <= from && from <= run.end) return run.end;
    const end = runEnd(this.#text, from, alphabet);
    this.spend(end - from + 1);
    runs.push({ start: from, end });
    if (runs.length > KEPT) runs.shift();
    this.#known.set(alphabet, runs);
    return end;
  }

  /** Whether [from, end) has a character of the alphabet. */
  has(alphabet: number, from: number, end: number): boolean {
    this.#firsts ??= new Map();
    const last = this.#firsts.get(alphabet);
    // Between where it was looked from and where it was found there is none.
    if (last !== undefined && last.start <= from && from <= last.end) return last.end < end;
    const first = firstOf(this.#text, from, alphabet);
    this.spend(first - from + 1);
    this.#firsts.set(alphabet, { start: from, end: first });
    return first < end;
  }

  /** Counts work on a run other than finding its end. */
  spend(steps: number): void {
    if (this.#work !== undefined) this.#work.steps += steps;
  }
}
