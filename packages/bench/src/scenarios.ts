import type { Scenario } from './measuring/scenario.ts';
import { agents } from './scenarios/agents.ts';
import { cliffs } from './scenarios/cliffs.ts';
import { engineAppends } from './scenarios/engine-appends.ts';
import { evidence } from './scenarios/evidence.ts';
import { history } from './scenarios/history.ts';
import { kill } from './scenarios/kill.ts';
import { overload } from './scenarios/overload.ts';
import { peers } from './scenarios/peers.ts';
import { postgresScale } from './scenarios/postgres-scale.ts';
import { schedules } from './scenarios/schedules.ts';
import { slowSubscriber } from './scenarios/slow-subscriber.ts';
import { soak } from './scenarios/soak.ts';
import { sse } from './scenarios/sse.ts';
import { storedRuns } from './scenarios/stored-runs.ts';
import { studio } from './scenarios/studio.ts';
import { packs } from './scenarios/packs.ts';
import { workers } from './scenarios/workers.ts';
import { postgresWorkloads, sqliteWorkloads } from './scenarios/workloads.ts';

/** In the order in which they are measured; the longest last. */
export const SCENARIOS: readonly Scenario[] = [
  sqliteWorkloads,
  postgresWorkloads,
  workers,
  packs,
  agents,
  engineAppends,
  sse,
  slowSubscriber,
  history,
  storedRuns,
  schedules,
  postgresScale,
  overload,
  cliffs,
  kill,
  evidence,
  studio,
  peers,
  soak,
];
