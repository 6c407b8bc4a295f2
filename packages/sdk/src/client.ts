import { type Capabilities, endpointOf } from '@weft/protocol/plain';
import { type Annotations, createAnnotations } from './annotations.ts';
import type { ApiPromise } from './api-promise.ts';
import { type Artifacts, createArtifacts } from './artifacts.ts';
import { type Audit, createAudit } from './audit.ts';
import { type Bundles, createBundles } from './bundles.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { type Diffs, createDiffs } from './diff.ts';
import { type Forks, createForks } from './forks.ts';
import { type Imports, createImports } from './imports.ts';
import { type Interrupts, createInterrupts } from './interrupts.ts';
import { type NodeTypes, createNodeTypes } from './node-types.ts';
import { type Operations, createOperations } from './operations.ts';
import { type Keys, createKeys } from './keys.ts';
import { type Runs, createRuns } from './runs.ts';
import { type Secrets, createSecrets } from './secrets.ts';
import { type ClientOptions, createTransport } from './transport.ts';
import { type Webhooks, createWebhooks } from './webhooks.ts';
import { type Workflows, createWorkflows } from './workflows.ts';

export interface Client {
  readonly runs: Runs & Diffs & Forks;
  readonly bundles: Bundles;
  readonly imports: Imports;
  readonly annotations: Annotations;
  readonly interrupts: Interrupts;
  readonly workflows: Workflows;
  readonly nodeTypes: NodeTypes;
  readonly keys: Keys;
  readonly operations: Operations;
  readonly webhooks: Webhooks;
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
    nodeTypes: createNodeTypes(transport),
    keys: createKeys(transport),
    operations: createOperations(transport),
    webhooks: createWebhooks(transport),
    secrets: createSecrets(transport),
    artifacts: createArtifacts(transport),
    audit: createAudit(transport),
    cluster: createCluster(transport),
    discovery: () => transport.json(endpointOf('getCapabilities')),
    withOptions: (changed) => createClient({ ...options, ...changed }),
  };
}
