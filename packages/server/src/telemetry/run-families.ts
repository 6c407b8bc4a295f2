import type { Registry } from './registry.ts';

const NODE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];
const ACTIVITY_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

export type RunFamilies = ReturnType<typeof registerRunFamilies>;

/** The protocol's metrics that are counted from events, with the buckets it prescribes. */
export function registerRunFamilies(registry: Registry) {
  const { counter, histogram } = registry;
  return {
    runCreated: counter({
      name: 'openwop.run.created',
      help: 'Runs created.',
      unit: '{run}',
      labels: ['workflow_id', 'tenant_id'],
    }),
    runCompleted: counter({
      name: 'openwop.run.completed',
      help: 'Runs that have ended.',
      unit: '{run}',
      labels: ['run_status', 'workflow_id'],
    }),
    runDuration: histogram({
      name: 'openwop.run.duration',
      help: 'Time from the creation of a run to its end, waiting included.',
      unit: 's',
      labels: ['run_status', 'workflow_id'],
      buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1_800, 3_600],
    }),
    backlog: histogram({
      name: 'openwop.run.backlog',
      help: 'Time from the creation of a run to its first event.',
      unit: 's',
      labels: ['workflow_id', 'tenant_id'],
      buckets: [0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1_800],
    }),
    enqueued: counter({
      name: 'openwop.queue.enqueued',
      help: 'Runs that were created without room in memory and had to wait.',
      unit: '{run}',
      labels: ['tenant_id'],
    }),
    nodeCompleted: counter({
      name: 'openwop.node.completed',
      help: 'Nodes that have ended.',
      unit: '{node}',
      labels: ['node_type', 'run_status'],
    }),
    nodeDuration: histogram({
      name: 'openwop.node.duration',
      help: 'Duration of one attempt of a node.',
      unit: 's',
      labels: ['node_type', 'run_status'],
      buckets: NODE_BUCKETS,
    }),
    nodeAttempts: counter({
      name: 'openwop.node.attempts',
      help: 'Attempts after the first.',
      unit: '{attempt}',
      labels: ['node_type'],
    }),
    activityInvocations: counter({
      name: 'openwop.activity.invocations',
      help: 'Calls to the outside.',
      unit: '{call}',
      labels: ['provider', 'run_status'],
    }),
    activityDuration: histogram({
      name: 'openwop.activity.duration',
      help: 'Duration of calls to the outside.',
      unit: 's',
      labels: ['provider', 'run_status'],
      buckets: ACTIVITY_BUCKETS,
    }),
    tokens: counter({
      name: 'openwop.activity.tokens',
      help: 'Tokens of model calls.',
      unit: '{token}',
      labels: ['provider', 'direction'],
    }),
    capExceeded: counter({
      name: 'openwop.cap.exceeded',
      help: 'Runs ended by one of their limits.',
      unit: '{run}',
      labels: ['cap_kind'],
    }),
    interruptRequested: counter({
      name: 'openwop.interrupt.requested',
      help: 'Questions asked.',
      unit: '{interrupt}',
      labels: ['interrupt_kind'],
    }),
    interruptDuration: histogram({
      name: 'openwop.interrupt.duration',
      help: 'Time from a question to its answer.',
      unit: 's',
      labels: ['interrupt_kind', 'run_status'],
      buckets: [60, 300, 900, 1_800, 3_600, 14_400, 86_400, 604_800],
    }),
    decisions: counter({
      name: 'openwop.orchestrator.decisions',
      help: 'Decisions of orchestrators.',
      unit: '{decision}',
      labels: ['decision_kind', 'workflow_id', 'tenant_id'],
    }),
    iterations: histogram({
      name: 'openwop.orchestrator.iterations',
      help: 'Decisions of one run’s orchestrator.',
      unit: '',
      labels: ['workflow_id', 'tenant_id'],
      buckets: [1, 2, 5, 10, 25, 50, 100, 250],
    }),
  };
}
