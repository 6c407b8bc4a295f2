/**
 * Where the holder of a run is in turning an input into a durable step:
 *
 *   resting ──work──► deciding ──write──► committing
 *      ▲                │  ▲                  │
 *      └──────rest──────┘  └─────written──────┘        end: from each of them to ended
 *
 * resting     nothing to do until an outcome, a signal or a timer
 * deciding    an input is looked for, decided, or acted upon: publish it, answer its command, abort and start effects, serve readers
 * committing  the state in memory is ahead of the store
 * ended       finished, parked (claim given up with the last write), stopped, or dropped
 */
const TRANSITIONS = {
  work: { resting: 'deciding' },
  write: { deciding: 'committing' },
  written: { committing: 'deciding' },
  rest: { deciding: 'resting' },
  end: { resting: 'ended', deciding: 'ended', committing: 'ended' },
} as const satisfies Record<string, { readonly [Before in Phase]?: Phase }>;

export type Phase = 'resting' | 'deciding' | 'committing' | 'ended';
export type Transition = keyof typeof TRANSITIONS;

/** A class because every live run has one. */
export class ActorPhase {
  #now: Phase = 'resting';

  get now(): Phase {
    return this.#now;
  }

  get isOver(): boolean {
    return this.#now === 'ended';
  }

  /** False, and nothing happens, where the transition does not lead from here. */
  move(transition: Transition): boolean {
    const next: { readonly [Before in Phase]?: Phase } = TRANSITIONS[transition];
    const after = next[this.#now];
    if (after === undefined) return false;
    this.#now = after;
    return true;
  }
}
