/**
 * Until when a worker holds its tasks, in its own view. It counts from the moment at which a request was sent, so that this view ends
 * before the host's. Time is the longer of what two clocks say has passed: one of them stands still while a machine sleeps, the other
 * can be set back.
 */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export interface Lease {
  /** What is left of it; 0 or less: it has passed. */
  leftMs(): number;
  /** How old the newest request is by which it was extended. */
  ageMs(): number;
  /** Of a new session. */
  begin(sentAt: Moment, leaseMs: number): void;
  /** False: it has passed, and nothing extends it any more. */
  extend(sentAt: Moment, leaseMs: number): boolean;
}

export function now(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

export function msSince({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall);
}

export function createLease(): Lease {
  let from: Moment = { steady: -Infinity, wall: -Infinity };
  let lengthMs = 0;
  const ageMs = () => msSince(from);
  const leftMs = () => lengthMs - ageMs();
  const begin = (sentAt: Moment, leaseMs: number) => {
    from = sentAt;
    lengthMs = leaseMs;
  };
  return {
    ageMs,
    leftMs,
    begin,
    extend(sentAt, leaseMs) {
      const left = leftMs();
      if (left <= 0) return false;
      // Answers may arrive in another order than their requests were sent.
      if (leaseMs - msSince(sentAt) > left) begin(sentAt, leaseMs);
      return true;
    },
  };
}
