import type { Capabilities, JsonObject } from '@weft/protocol';
import type { Authenticate } from '../ports/authenticate.ts';
import type { Agents } from './surface/agents.ts';
import type { Annotations } from './surface/annotations.ts';
import type { Artifacts } from './surface/artifacts.ts';
import type { Audit } from './surface/audit.ts';
import type { Bundles, Imports } from './surface/bundles.ts';
import type { Caller, IdempotencyClaim, RememberedAnswer } from './surface/caller.ts';
import type { DeadLetters } from './surface/dead-letters.ts';
import type { Cluster } from './surface/cluster.ts';
import type { Interrupts } from './surface/interrupts.ts';
import type { Keys, Sessions } from './surface/keys.ts';
import type { Costs } from './surface/costs.ts';
import type { ModelCatalogue } from './surface/models.ts';
import type { NodeTypeCatalogue } from './surface/node-types.ts';
import type { Operations } from './surface/operations.ts';
import type { PeerAgents, TaskPushes } from './surface/peers.ts';
import type { PackRegistry } from './surface/packs.ts';
import type { Runs } from './surface/runs.ts';
import type { Prompts } from './surface/prompts.ts';
import type { Schedules } from './surface/schedules.ts';
import type { Secrets } from './surface/secrets.ts';
import type { Triggers } from './surface/triggers.ts';
import type { ToolServers } from './surface/tool-servers.ts';
import type { Webhooks } from './surface/webhooks.ts';
import type { Workers } from './surface/workers.ts';
import type { Workflows } from './surface/workflows.ts';

export type * from './surface/agents.ts';
export type * from './surface/annotations.ts';
export type * from './surface/artifacts.ts';
export type * from './surface/audit.ts';
export type * from './surface/bundles.ts';
export type * from './surface/caller.ts';
export type * from './surface/cluster.ts';
export type * from './surface/dead-letters.ts';
export type * from './surface/interrupts.ts';
export type * from './surface/keys.ts';
export type * from './surface/models.ts';
export type * from './surface/node-types.ts';
export type * from './surface/operations.ts';
export type * from './surface/peers.ts';
export type * from './surface/packs.ts';
export type * from './surface/runs.ts';
export type * from './surface/prompts.ts';
export type * from './surface/schedules.ts';
export type * from './surface/secrets.ts';
export type * from './surface/costs.ts';
export type * from './surface/telemetry.ts';
export type * from './surface/triggers.ts';
export type * from './surface/tool-servers.ts';
export type * from './surface/webhooks.ts';
export type * from './surface/workers.ts';
export type * from './surface/workflows.ts';

/**
 * What the server may ask of the engine, in the groups that the SDK's client has. Everything is asked on behalf of a caller;
 * whatever the caller's tenant may not see is `undefined`, exactly as what does not exist. Failures a client may see are thrown
 * as HostError.
 */
export interface Host {
  readonly runs: Runs;
  readonly bundles: Bundles;
  readonly imports: Imports;
  readonly annotations: Annotations;
  readonly interrupts: Interrupts;
  readonly workflows: Workflows;
  readonly nodeTypes: NodeTypeCatalogue;
  readonly models: ModelCatalogue;
  readonly costs: Costs;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly operations: Operations;
  readonly webhooks: Webhooks;
  readonly prompts: Prompts;
  readonly schedules: Schedules;
  readonly triggers: Triggers;
  readonly deadLetters: DeadLetters;
  readonly secrets: Secrets;
  readonly artifacts: Artifacts;
  readonly audit: Audit;
  readonly cluster: Cluster;
  readonly workers: Workers;
  readonly toolServers: ToolServers;
  /** Of packs. */
  readonly agents: Agents;
  readonly peers: PeerAgents;
  /** Absent where the host tells no tasks. */
  readonly taskPushes: TaskPushes | undefined;
  /** Absent where the host serves no registry. */
  readonly packs: PackRegistry | undefined;
  /** Who holds this credential; the answer may be cached for a second. */
  readonly authenticate: Authenticate;
  /**
   * For acts that are idempotent by nature (many commands, a registration, a revocation): carries the act out and remembers
   * its answer under the client's key. A crash in between repeats the act, which then changes nothing.
   */
  once<Outcome>(
    caller: Caller,
    claim: IdempotencyClaim<Outcome> | undefined,
    act: () => Promise<Outcome>,
  ): Promise<RememberedAnswer<Outcome>>;
  /** The discovery document; the same object until something advertised changes. */
  capabilities(): Capabilities;
  stats(): JsonObject;
  start(): Promise<void>;
  /** Releases every claim; resolves when nothing is in flight, within the given time. */
  stop(graceMs: number): Promise<void>;
}
