import { mkdirSync } from 'node:fs';
import { createCallbackResponder } from './workload/callback-responder.ts';
import { openCluster } from './faults/cluster.ts';
import { createFaultInjector } from './faults/fault-injector.ts';
import type { History } from './checking/history.ts';
import type { ProxyCounts } from './faults/postgres-proxy.ts';
import { openFleet } from './faults/worker-fleet.ts';
import { injectWorkerFaults, planWorkerFaults } from './faults/worker-faults.ts';
import { prepare } from './workload/prepare.ts';
import { randomOf } from './random.ts';
import { newReceipts } from './workload/receipts.ts';
import { openReceiver } from './workload/webhook-receiver.ts';
import { planFaults } from './faults/schedule.ts';
import { workUnderFaults } from './workload/workload.ts';
import { chaosWorkflows } from './workload/workflows.ts';
import { startHostileService } from '../hostile/hostile-service.ts';
import { writeTaskNode } from './workload/task-node.ts';
import { openHoldService } from './started/hold-service.ts';
import { openStartedWork } from './started/started-work.ts';
import { openExternalService } from './workload/external-service.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly store: 'postgres' | 'sqlite';
  /** Logs of the processes and the history go here. */
  readonly folder: string;
  readonly note: (line: string) => void;
}

export interface ChaosOutcome {
  readonly history: History;
  readonly injected: Readonly<Record<string, number>>;
  readonly proxies: ProxyCounts;
  readonly features: Readonly<Record<string, number>>;
  readonly repeats: Readonly<Record<string, number>>;
  readonly actions: Readonly<Record<string, number>>;
}

const CLAIM_TTL_MS = 3_000;
const WORKER_LEASE_MS = 1_500;
const WORKFLOWS = 20;

/** One run from start to end: cluster, workload, faults, rest, and what was left. */
export async function runChaos(options: ChaosOptions): Promise<ChaosOutcome> {
  const { seed, store, folder, note } = options;
  mkdirSync(folder, { recursive: true });
  const random = randomOf(seed);
  const service = await openExternalService(random.fork('service'));
  const callbacks = createCallbackResponder();
  const receiver = await openReceiver(random.fork('receiver'), callbacks.take);
  const holds = await openHoldService();
  const hostile = await startHostileService();
  const cluster = await openCluster({
    ...{ store, folder, claimTtlMs: CLAIM_TTL_MS, workerLeaseMs: WORKER_LEASE_MS },
    ports: [service.port, receiver.port, holds.port, Number(new URL(hostile.url).port)],
  });
  const node = writeTaskNode(folder, service.port);
  const fleet = await openFleet({ cluster, nodes: node.folder, folder });
  try {
    const workflows = chaosWorkflows(random.fork('workflows'), WORKFLOWS, service.port);
    const receipts = newReceipts();
    const faults = planFaults(random.fork('faults'), {
      store,
      places: cluster.places,
      durationMs: options.minutes * 60_000,
      claimTtlMs: CLAIM_TTL_MS,
    });
    const workerFaults = planWorkerFaults(random.fork('worker faults'), {
      workers: fleet.size,
      durationMs: options.minutes * 60_000,
      leaseMs: WORKER_LEASE_MS,
    });
    const injector = createFaultInjector({
      cluster,
      faults,
      receipts,
      note,
      random: random.fork('fault injector'),
      workflows: workflows.roots,
    });
    // One first: the others find the schema made.
    await injector.start(0);
    await Promise.all(Array.from({ length: cluster.places - 1 }, (_, index) => injector.start(index + 1)));
    const prepared = await prepare({ cluster, workflows, receipts, receiver });
    const started = await openStartedWork({
      ...{ cluster, receipts, holds, note, servicePort: service.port },
      random: random.fork('started'),
      durationMs: options.minutes * 60_000,
    });
    note(
      `${cluster.places} processes, ${fleet.size} workers, ${workflows.definitions.length} workflows, ${faults.length + workerFaults.length} faults planned`,
    );
    let injected: Readonly<Record<string, number>> = {};
    const left = await workUnderFaults({
      ...{
        cluster,
        workflows,
        receipts,
        random,
        note,
        receiver,
        prepared,
        callbacks,
        started,
        hostileUrl: hostile.url,
      },
      async faults() {
        const [onWorkers] = await Promise.all([
          injectWorkerFaults(fleet, workerFaults, note),
          injector.run(),
        ]);
        injected = { ...injector.injected, ...onWorkers };
      },
    });
    const { bodies: _bodies, repeats, actions, ...acknowledged } = receipts;
    const history: History = {
      seed,
      store,
      ...acknowledged,
      ...left,
      effects: service.seen,
      performances: node.performances(),
      outages: fleet.outages,
      deliveries: receiver.seen,
      exits: [...cluster.exits, ...injector.failures, ...fleet.exits],
      callbackSecret: prepared.callbackSecret,
      secret: prepared.secret,
    };
    return {
      history,
      injected,
      proxies: cluster.counts(),
      features: workflows.features,
      repeats: Object.fromEntries(repeats),
      actions: Object.fromEntries(actions),
    };
  } finally {
    await fleet.stop();
    await cluster.stop();
    await receiver.close();
    await service.close();
    await holds.close();
    hostile.close();
  }
}
