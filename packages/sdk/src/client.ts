import { type Capabilities, endpointOf } from '@weft/protocol/plain';
import { type Annotations, createAnnotations } from './runs/annotations.ts';
import type { ApiPromise } from './requests/api-promise.ts';
import { type Artifacts, createArtifacts } from './runs/artifacts.ts';
import { type Audit, createAudit } from './host/audit.ts';
import { type Bundles, createBundles } from './compare/bundles.ts';
import { type Cluster, createCluster } from './host/cluster.ts';
import { type Diffs, createDiffs } from './compare/diff.ts';
import { type Forks, createForks } from './compare/forks.ts';
import { type Imports, createImports } from './compare/imports.ts';
import { type Interrupts, createInterrupts } from './runs/interrupts.ts';
import { type Costs, createCosts } from './host/costs.ts';
import { type ModelCatalogue, createModelCatalogue } from './host/models.ts';
import { type NodeTypes, createNodeTypes } from './host/node-types.ts';
import { type Peers, createPeers } from './host/peers.ts';
import { type ToolServers, createToolServers } from './host/tool-servers.ts';
import { type Operations, createOperations } from './host/operations.ts';
import { type Keys, createKeys } from './host/keys.ts';
import { type Runs, createRuns } from './runs/runs.ts';
import { type DeadLetters, createDeadLetters } from './host/dead-letters.ts';
import { type Agents, createAgents } from './host/agents.ts';
import { type Prompts, createPrompts } from './host/prompts.ts';
import { type Schedules, createSchedules } from './host/schedules.ts';
import { type Triggers, createTriggers } from './host/triggers.ts';
import { type Secrets, createSecrets } from './host/secrets.ts';
import { type Sessions, createSessions } from './host/sessions.ts';
import { type ClientOptions, createTransport } from './requests/transport.ts';
import { type Webhooks, createWebhooks } from './host/webhooks.ts';
import { type Workers, createWorkers } from './host/workers.ts';
import { type Workflows, createWorkflows } from './host/workflows.ts';

export interface Client {
  readonly runs: Runs & Diffs & Forks;
  readonly bundles: Bundles;
  readonly imports: Imports;
  readonly annotations: Annotations;
  readonly interrupts: Interrupts;
  readonly workflows: Workflows;
  readonly models: ModelCatalogue;
  readonly costs: Costs;
  readonly nodeTypes: NodeTypes;
  readonly workers: Workers;
  readonly toolServers: ToolServers;
  readonly peers: Peers;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly operations: Operations;
  readonly webhooks: Webhooks;
  /** Prompt templates, by id and version. */
  readonly prompts: Prompts;
  readonly agents: Agents;
  readonly schedules: Schedules;
  readonly triggers: Triggers;
  readonly deadLetters: DeadLetters;
  readonly secrets: Secrets;
  readonly artifacts: Artifacts;
  readonly audit: Audit;
  readonly cluster: Cluster;
  /** What the host says it can do. Needs no key. */
  discovery(): ApiPromise<Capabilities>;
  /** The same client with some options changed: `weft.withOptions({ timeoutMs: 5_000 }).runs.get(id)`. */
  withOptions(changed: ClientOptions): Client;
}

/** Nouns, then verbs. Every failure is an ApiError (the host rejected the request) or a ConnectionError (no answer came). */
export function createClient(options: ClientOptions = {}): Client {
  const transport = createTransport(options);
  return {
    runs: { ...createRuns(transport), ...createDiffs(transport), ...createForks(transport) },
    bundles: createBundles(transport),
    imports: createImports(transport),
    annotations: createAnnotations(transport),
    interrupts: createInterrupts(transport),
    workflows: createWorkflows(transport),
    models: createModelCatalogue(transport),
    costs: createCosts(transport),
    nodeTypes: createNodeTypes(transport),
    workers: createWorkers(transport),
    toolServers: createToolServers(transport),
    peers: createPeers(transport),
    keys: createKeys(transport),
    sessions: createSessions(transport),
    operations: createOperations(transport),
    webhooks: createWebhooks(transport),
    prompts: createPrompts(transport),
    agents: createAgents(transport),
    schedules: createSchedules(transport),
    triggers: createTriggers(transport),
    deadLetters: createDeadLetters(transport),
    secrets: createSecrets(transport),
    artifacts: createArtifacts(transport),
    audit: createAudit(transport),
    cluster: createCluster(transport),
    discovery: () => transport.json(endpointOf('getCapabilities')),
    withOptions: (changed) => createClient({ ...options, ...changed }),
  };
}
