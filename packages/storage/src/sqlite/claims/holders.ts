/**
 * Who holds runs, and until when. Held in memory on purpose: the file has one owner process, and a new owner frees every
 * claim when it opens the file, so no process would ever read these from the disk, and a heartbeat need not wait for it.
 */
export interface Holders {
  /** The number under which the holder stands on the runs it holds. */
  numberOf(holder: string): number;
  heartbeat(holder: string, deadline: number, about: string | undefined): void;
  /** Its deadline has passed. */
  expire(holder: string, now: number): void;
  all(): readonly { readonly name: string; readonly deadline: number; readonly about?: string }[];
  /** The holder's name, or undefined when it is past its deadline or never gave a sign. */
  alive(number: number, now: number): string | undefined;
  /** Numbers of all holders whose claims no longer count. */
  expired(now: number): number[];
}

export function newHolders(): Holders {
  const numbers = new Map<string, number>();
  const holders: { readonly name: string; deadline: number; about?: string }[] = [];

  function numberOf(name: string): number {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, holders.length);
    return holders.push({ name, deadline: Number.NEGATIVE_INFINITY }) - 1;
  }

  return {
    numberOf,
    heartbeat(name, deadline, about) {
      const holder = holders[numberOf(name)];
      if (!holder) return;
      holder.deadline = deadline;
      if (about !== undefined) holder.about = about;
    },
    expire(name, now) {
      const holder = holders[numberOf(name)];
      if (holder) holder.deadline = Math.min(holder.deadline, now);
    },
    all: () => holders,
    alive(number, now) {
      const holder = holders[number];
      return holder && now < holder.deadline ? holder.name : undefined;
    },
    expired(now) {
      return holders.flatMap(({ deadline }, number) => (now < deadline ? [] : [number]));
    },
  };
}
