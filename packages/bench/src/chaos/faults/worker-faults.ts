import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { WorkerFleet } from './worker-fleet.ts';

/** What goes wrong with a worker. `forMs` lasts about as long as a lease: at times it passes, at times it is just extended. */
export interface WorkerFault {
  readonly kind: WorkerFaultKind;
  readonly worker: number;
  readonly forMs: number;
}

export type WorkerFaultKind = (typeof DECK)[number];

export interface PlannedWorkerFault {
  readonly atMs: number;
  readonly fault: WorkerFault;
}

const DECK = ['kill', 'kill', 'freeze', 'freeze', 'partition', 'partition', 'drain'] as const;
const FIRST_AT_MS = 1_000;

export function planWorkerFaults(
  random: Random,
  options: { readonly workers: number; readonly durationMs: number; readonly leaseMs: number },
): PlannedWorkerFault[] {
  const planned: PlannedWorkerFault[] = [];
  for (let atMs = FIRST_AT_MS; atMs < options.durationMs; ) {
    for (const kind of random.shuffle(DECK)) {
      if (atMs >= options.durationMs) break;
      const worker = random.int(0, options.workers - 1);
      const forMs = random.int(Math.floor(options.leaseMs / 4), options.leaseMs * 2);
      planned.push({ atMs, fault: { kind, worker, forMs } });
      atMs += random.int(200, 1_600);
    }
  }
  return planned;
}

/** Resolves when the last fault is over and every worker runs again. */
export async function injectWorkerFaults(
  fleet: WorkerFleet,
  faults: readonly PlannedWorkerFault[],
  note: (line: string) => void,
): Promise<Record<string, number>> {
  const injected: Record<string, number> = {};
  /** One worker suffers one thing after the other. */
  const lanes = new Map<number, Promise<void>>();
  const startedAt = performance.now();
  for (const { atMs, fault } of faults) {
    await pause(Math.max(0, atMs - (performance.now() - startedAt)));
    const { kind, worker, forMs } = fault;
    const suffer = async (): Promise<void> => {
      injected[`${kind} a worker`] = (injected[`${kind} a worker`] ?? 0) + 1;
      note(`${kind} worker ${worker}, forMs ${forMs}`);
      await inject(fleet, fault);
    };
    lanes.set(worker, (lanes.get(worker) ?? Promise.resolve()).then(suffer));
  }
  await Promise.all(lanes.values());
  return injected;
}

async function inject(fleet: WorkerFleet, { kind, worker, forMs }: WorkerFault): Promise<void> {
  switch (kind) {
    case 'kill':
      await fleet.kill(worker);
      await pause(forMs);
      return fleet.start(worker);
    case 'drain':
      await fleet.drain(worker);
      return fleet.start(worker);
    case 'freeze':
      fleet.freeze(worker);
      await pause(forMs);
      return fleet.thaw(worker);
    case 'partition':
      fleet.proxy(worker).stall();
      await pause(forMs);
      return fleet.proxy(worker).resume();
  }
}
