import type { Random } from '../random.ts';

/** Where the connection is cut, seen from a transaction: its COMMIT is not sent, sent, or sent and carried out. */
export type CutMoment = 'before' | 'during' | 'after';

/** Something that goes wrong. `place` is the number of the process it happens to. */
export type Fault =
  | { readonly kind: 'kill'; readonly place: number; readonly downMs: number }
  | { readonly kind: 'drain'; readonly place: number; readonly downMs: number }
  | { readonly kind: 'freeze'; readonly place: number; readonly forMs: number }
  | { readonly kind: 'database'; readonly how: 'SIGINT' | 'SIGQUIT'; readonly downMs: number }
  | { readonly kind: 'cut'; readonly place: number; readonly moment: CutMoment; readonly count: number }
  | { readonly kind: 'reset'; readonly place: number }
  | { readonly kind: 'full'; readonly place: number; readonly forMs: number }
  | { readonly kind: 'abandon'; readonly place: number; readonly clients: number };

export type FaultKind = Fault['kind'];

export interface PlannedFault {
  readonly atMs: number;
  readonly fault: Fault;
}

export interface ScheduleOptions {
  readonly store: 'postgres' | 'sqlite';
  readonly places: number;
  readonly durationMs: number;
  /** How long a claim lasts without renewal: a process frozen for longer wakes up as a stale holder. */
  readonly claimTtlMs: number;
}

const POSTGRES_DECK: readonly FaultKind[] = [
  ...(['kill', 'kill', 'drain', 'freeze', 'database', 'reset', 'full', 'abandon'] as const),
  ...(['cut', 'cut', 'cut'] as const),
];
const SQLITE_DECK: readonly FaultKind[] = ['kill', 'kill', 'kill', 'drain', 'full', 'abandon', 'abandon'];
const CUT_MOMENTS: readonly CutMoment[] = ['before', 'during', 'after'];
const FIRST_AT_MS = 1_500;
/** A host that is alone must have time to work between two faults. */
const ALONE = 2;

/** Every kind of fault comes once per shuffled deck, at times that the seed fixes. */
export function planFaults(random: Random, options: ScheduleOptions): PlannedFault[] {
  const deck = options.store === 'postgres' ? POSTGRES_DECK : SQLITE_DECK;
  const planned: PlannedFault[] = [];
  let cuts = 0;
  for (let atMs = FIRST_AT_MS; atMs < options.durationMs; ) {
    for (const kind of random.shuffle(deck)) {
      if (atMs >= options.durationMs) break;
      const moment = CUT_MOMENTS[cuts % CUT_MOMENTS.length] ?? 'after';
      if (kind === 'cut') cuts += 1;
      planned.push({ atMs, fault: newFault(kind, moment, random, options) });
      atMs += random.int(300, 2_200) * (options.places === 1 ? ALONE : 1);
    }
  }
  return planned;
}

/** By how much the clock of a process is off, each time it starts. */
export function skewOf(random: Random, place: number, start: number): number {
  const drawn = random.fork(`skew ${place} ${start}`);
  return place === 0 ? 0 : drawn.int(-2_500, 2_500);
}

function newFault(kind: FaultKind, moment: CutMoment, random: Random, options: ScheduleOptions): Fault {
  const place = random.int(0, options.places - 1);
  switch (kind) {
    case 'kill':
    case 'drain':
      return { kind, place, downMs: random.int(0, 2_000) };
    case 'freeze':
      return { kind, place, forMs: options.claimTtlMs + random.int(500, 2_500) };
    case 'database':
      return { kind, how: random.pick(['SIGINT', 'SIGQUIT']), downMs: random.int(0, 1_500) };
    case 'cut':
      return { kind, place, moment, count: random.int(1, 4) };
    case 'reset':
      return { kind, place };
    case 'full':
      return { kind, place, forMs: random.int(300, 1_800) };
    case 'abandon':
      return { kind, place, clients: random.int(20, 60) };
  }
}
