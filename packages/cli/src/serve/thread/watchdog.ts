/**
 * Ends a process whose host stands still. A host that is busy forever with one decision neither answers nor dies: nothing restarts
 * it, and no other takes over its runs (engine, quarantine.ts). The thread that started it is idle and can tell.
 *
 * The host's thread counts up once a second; time is counted in looks at that number, not by a clock: after a process was stopped
 * and continued as a whole, both threads have stood still, and neither for longer than the other.
 */

const BEAT_MS = 1_000;
const DEFAULT_PATIENCE_MS = 60_000;

/** On the host's thread. */
export function beat(counter: Int32Array): void {
  setInterval(() => Atomics.add(counter, 0, 1), BEAT_MS).unref();
}

export interface Watched {
  /** What the host's thread counts up; it does not before it has begun. */
  readonly counter: Int32Array;
  readonly patienceMs: number;
  readonly onStandstill: () => void;
}

/** On the thread that started it. Returns the way to stop. */
export function watch({ counter, patienceMs, onStandstill }: Watched): () => void {
  if (patienceMs === 0) return () => undefined;
  const looks = Math.max(Math.ceil(patienceMs / BEAT_MS), 2);
  let last = 0;
  let unchanged = 0;
  const timer = setInterval(() => {
    const current = Atomics.load(counter, 0);
    unchanged = current === last ? unchanged + 1 : 0;
    last = current;
    if (current > 0 && unchanged >= looks) onStandstill();
  }, BEAT_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** How long a process that tries a suspect run may be busy with it: shorter, because other suspects wait. */
export function trialPatience(env: Readonly<Record<string, string | undefined>>): number {
  return (watchdogPatience(env) || DEFAULT_PATIENCE_MS) / 3;
}

/** WEFT_WATCHDOG_MS, 0 = off. A debugger stops a thread for as long as it likes. */
export function watchdogPatience(env: Readonly<Record<string, string | undefined>>): number {
  const isDebugged = [...process.execArgv, env['NODE_OPTIONS'] ?? ''].some((flag) =>
    flag.includes('--inspect'),
  );
  if (isDebugged) return 0;
  const given = env['WEFT_WATCHDOG_MS'];
  return given !== undefined && /^\d{1,9}$/.test(given) ? Number(given) : DEFAULT_PATIENCE_MS;
}
