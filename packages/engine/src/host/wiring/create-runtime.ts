import type { Egress } from '../../model/node-type.ts';
import type { Signal, CommandResult } from '../../ports/store.ts';
import { createAgents } from '../../runtime/agents/agents.ts';
import { createAudit } from '../../runtime/audit/audit.ts';
import { createCluster } from '../../runtime/cluster/cluster.ts';
import { createCommandResults } from '../../runtime/commands/command-results.ts';
import type { Committer } from '../../runtime/commits/committer.ts';
import { createIdempotency, type Idempotency } from '../../runtime/commits/idempotency.ts';
import { createPromptLibrary } from '../../runtime/prompts/prompt-library.ts';
import { createOpenEffectPorts } from '../../runtime/effects/open-effect-ports.ts';
import { createPerformer } from '../../runtime/effects/performer.ts';
import { createPriceLists } from '../../runtime/costs/price-lists.ts';
import { createTenantSpending } from '../../runtime/costs/tenant-budgets.ts';
import { createModelCatalogue } from '../../runtime/models/model-catalogue.ts';
import { createEgress } from '../../runtime/egress/egress.ts';
import { createOverloadGauge, type OverloadGauge } from '../../runtime/fairness/overload.ts';
import { createLinkKeys } from '../../runtime/interrupts/link-keys.ts';
import { createLinks } from '../../runtime/interrupts/links.ts';
import { createOutbox } from '../../runtime/outbox/create-outbox.ts';
import { createCancelAside } from '../../runtime/quarantine/cancel-aside.ts';
import { createRetention } from '../../runtime/retention/retention.ts';
import { createRunCreator, type RunCreator } from '../../runtime/runs/create-run.ts';
import { createFinishedRuns } from '../../runtime/runs/finished-runs.ts';
import { createRunIds } from '../../runtime/runs/ids.ts';
import { createReaders, type Readers } from '../../runtime/runs/readers.ts';
import { createRunStates, type RunStates } from '../../runtime/runs/states.ts';
import { createDispatcher, type Dispatcher } from '../../runtime/scheduling/dispatcher.ts';
import { createLease, type Lease } from '../../runtime/scheduling/lease.ts';
import { createSpawnChild } from '../../runtime/scheduling/spawn-child.ts';
import { createSchedules } from '../../runtime/schedules/create-schedules.ts';
import { createZones } from '../../runtime/schedules/zones.ts';
import { createTriggers } from '../../runtime/triggers/create-triggers.ts';
import { createDeadLetters } from '../../runtime/triggers/dead-letters.ts';
import { createManageDeadLetters } from '../../runtime/triggers/manage-dead-letters.ts';
import { createMappings } from '../../runtime/triggers/mapping.ts';
import { createOwnedTriggers } from '../../runtime/triggers/owned-triggers.ts';
import type { Sealer } from '../../runtime/secrets/sealer.ts';
import { createLocalResolver, openSealer } from '../../runtime/secrets/resolver.ts';
import { createFeed } from '../../runtime/streams/feed.ts';
import type { NodeTypes } from '../../runtime/node-types/node-types.ts';
import { createNodeTypes } from '../../runtime/node-types/registry.ts';
import { createCompile, ownNodeTypes } from '../../runtime/workflows/create-compile.ts';
import { createPlans, type Plans } from '../../runtime/workflows/plans.ts';
import { createCancelTasks } from '../../runtime/peers/cancel-tasks.ts';
import { createPeerAgents } from '../../runtime/peers/peers.ts';
import { createOffersTool, createToolServers } from '../../runtime/tools/tool-servers.ts';
import { createWorkers } from '../../runtime/workers/create-workers.ts';
import type { Stores } from './open-stores.ts';
import type { HostSettings } from './settings.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export type Runtime = ReturnType<typeof createRuntime>;

/** What schedules, decides, performs and commits. Nothing in it runs before the host is started. */
export function createRuntime(settings: HostSettings, stores: Stores) {
  const { clock, random, limits, log } = settings;
  const { store, seen, visible, committer, quarantine, observation } = stores;
  const common = { store, committer, clock, random, limits, log };
  const capabilities = new Set(settings.runtimeCapabilities);
  const ownTypes = ownNodeTypes(settings);
  const nodeTypes = createNodeTypes({
    ...common,
    isOwn: (typeId) => ownTypes.has(typeId),
    served: { isServed: (...type) => workers.isServed(...type) },
  });
  const agents = createAgents(common);
  const compile = createCompile(settings, limits, { own: ownTypes, ofUsers: nodeTypes, agents });
  const plans = createPlans(store, compile);
  const states = createRunStates(store, plans, limits);
  const feed = createFeed(limits);
  const commandResults = createCommandResults();
  const idempotency = createIdempotency({ store, clock, limits });
  const finished = createFinishedRuns(limits.finishedBytes, clock.monotonic);
  const newRunId = createRunIds(clock.now, random);

  const { outbox, performer, workers, links, ...outward } = createOutward(settings, stores, {
    idempotency,
    withState: (row, use) => readers.withState(row, use),
    states,
    nodeTypes,
    lease: () => lease,
    node: () => member.name,
  });
  const lease = createLease({
    ...common,
    ttlMs: limits.claimTtlMs,
    everyMs: limits.heartbeatMs,
    about: () => member.about(),
    onLost() {
      dispatcher.dropAll();
      workers.claimsLost();
    },
  });
  const runCommitter = wakingSchedules(outbox.committer, () => starting.wake());
  const deciding = {
    ...common,
    committer: runCommitter,
    outbox: outbox.rows,
    onCommandResult(commandId: string, commandResult: CommandResult): void {
      commandResults.announce(commandId, commandResult);
      observation.decided(commandId);
    },
    onSignals: (signals: readonly Signal[]): void => signals.forEach(({ runId }) => dispatcher.poke(runId)),
  };
  const dispatcher = createDispatcher({
    store,
    seen,
    lease,
    states,
    capabilities,
    quarantine,
    cancelAside: createCancelAside({ ...deciding, store: seen, states, capabilities, quarantine, feed }),
    actors: {
      ...deciding,
      performer,
      feed: observation.watching(feed),
      spawnChild: (parent, request) => spawnChild(parent, request),
    },
  });
  const member = createCluster({
    ...common,
    dispatcher,
    lease,
    name: `${settings.node ?? 'node'}-${Buffer.from(random(3)).toString('hex')}`,
    version: settings.version,
    everyMs: limits.heartbeatMs,
  });
  const creator = createRunCreator({
    ...common,
    store: visible,
    committer: outbox.committer,
    outbox: outbox.rows,
    dispatcher,
    plans,
    lease,
    capabilities,
    idempotency,
    finished,
    newRunId,
    checkCallbackUrl: outbox.checkCallbackUrl,
    auditRuns: settings.auditRuns,
    conformance: settings.conformance,
    models: settings.models,
  });
  const spawnChild = createSpawnChild({ ...common, plans, now: clock.now, create: creator.write });
  const overload = createOverloadGauge({ committer, dispatcher, limits });
  const starting = createStarting(settings, stores, {
    creator,
    plans,
    idempotency,
    dispatcher,
    overload,
    newRunId,
    sealer: outward.sealer,
  });
  const readers = createReaders({
    store: visible,
    dispatcher,
    feed,
    states,
    finished,
    keptStateBytes: limits.keptStateBytes,
    links,
    now: clock.now,
    tasksOf: workers.explain,
  });

  return {
    ownTypes,
    nodeTypes,
    agents,
    compile,
    plans,
    states,
    feed,
    commandResults,
    idempotency,
    newRunId,
    ...outward,
    links,
    outbox,
    performer,
    workers,
    lease,
    dispatcher,
    member,
    creator,
    readers,
    overload,
    starting,
    retention: createRetention({ ...common, store: visible, finished, states }),
    audit: createAudit({ ...common, key: settings.auditKey, anchor: settings.auditAnchor }),
  };
}

interface StartingParts {
  readonly creator: RunCreator;
  readonly plans: Plans;
  readonly idempotency: Idempotency;
  readonly dispatcher: Dispatcher;
  readonly overload: OverloadGauge;
  readonly newRunId: () => string;
  readonly sealer: Sealer | undefined;
}

/** What starts runs by itself: schedules, triggers, and what became of those that started none. */
function createStarting(settings: HostSettings, stores: Stores, parts: StartingParts) {
  const { clock, random, limits, log } = settings;
  const { store, committer, observation } = stores;
  const common = { store, committer, clock, random, limits, log, ...parts };
  const deadLetters = createDeadLetters({ store, limits });
  const mappings = createMappings(limits);
  const zones = createZones();
  const wake = (at?: number): void => scheduled.scheduler.wake(at);
  const triggered = createTriggers({
    ...common,
    deadLetters,
    mappings,
    secrets: createLocalResolver(store, parts.sealer),
    wake,
    onIngested: observation.ingested,
  });
  const scheduled = createSchedules({
    ...common,
    deadLetters,
    zones,
    redeliver: triggered.redeliver,
    onFired: observation.fired,
  });
  return {
    scheduler: scheduled.scheduler,
    schedules: scheduled.schedules,
    triggers: triggered.triggers,
    owned: createOwnedTriggers({ ...common, mappings, zones }),
    deadLetters: createManageDeadLetters({
      ...common,
      deadLetters,
      replayers: { schedule: scheduled.replay, trigger: triggered.replay },
    }),
    wake,
  };
}

/** A run that ends may be what its schedule waits for. */
function wakingSchedules(committer: Committer, wake: () => void): Committer {
  return {
    ...committer,
    submit(unit) {
      const submitted = committer.submit(unit);
      // Nearly all units wake none, and a promise around a promise is paid for by all of them.
      if (unit.kind !== 'run' || unit.wakes === undefined) return submitted;
      return submitted.then((result) => {
        if (result.state === 'committed') wake();
        return result;
      });
    },
  };
}

/** What leaves the host, and what protects it on the way: effects, deliveries, secrets and links. */
function createOutward(
  settings: HostSettings,
  stores: Stores,
  runs: {
    readonly idempotency: Idempotency;
    readonly withState: Readers['withState'];
    readonly states: RunStates;
    readonly nodeTypes: NodeTypes;
    readonly lease: () => Lease;
    readonly node: () => string;
  },
) {
  const { clock, random, limits, log } = settings;
  const { store, committer } = stores;
  const common = { store, committer, clock, random, limits, log };
  const egress = settings.egress ?? openEgress(settings);
  const sealer = openSealer(settings.secretsKey, random);
  const linkKeys = createLinkKeys({
    ...common,
    secretsKey: settings.secretsKey,
    refreshMs: limits.linkKeyRefreshMs,
  });
  const links = createLinks({ keys: linkKeys, now: clock.now, maxCallbackMs: limits.maxCallbackLinkMs });
  const localSecrets = createLocalResolver(store, sealer);
  const reaching = {
    ...common,
    resolver: settings.conformance?.secrets(localSecrets) ?? localSecrets,
    models: settings.models,
    tools: settings.tools,
    peers: settings.peers,
    operator: settings.defaultTenant,
  };
  const outbox = createOutbox({
    ...common,
    egress,
    cancelTasks:
      settings.peers.names.length === 0 ? undefined : createCancelTasks({ ...reaching, ...runs, egress }),
    egressAllow: settings.egressAllow,
    taskPushes: settings.taskPushes,
    sealing: sealer,
    version: settings.version,
    retryScaleForTests: settings.retryScaleForTests,
    publicUrl: settings.publicUrl,
    links,
    ...runs,
  });
  const prompts = createPromptLibrary(common);
  const priceLists = createPriceLists({ store, committer, clock, random });
  const spending = createTenantSpending({ store, clock, budgets: settings.budgets ?? NO_BUDGETS });
  const openPorts = createOpenEffectPorts({
    ...reaching,
    prompts,
    costs: { prices: priceLists.prices, tenantBreach: spending.breach, noteSpent: spending.note },
  });
  const workers = createWorkers({ ...common, ...runs, types: runs.nodeTypes, openPorts });
  const performer = createPerformer({
    maxActive: limits.hostConcurrency,
    maxPerTenant: limits.tenantConcurrency,
    egress,
    openPorts,
    workers,
    log,
  });
  const toolServers = createToolServers({ ...reaching, egress });
  const offersTool = createOffersTool({ ...reaching, egress });
  const peers = createPeerAgents({ ...reaching, egress });
  const models = createModelCatalogue({ ...reaching, egress });
  const asked = { toolServers, offersTool, peers, models, priceLists, prompts };
  return { sealer, linkKeys, links, outbox, performer, workers, ...asked };
}

const NO_BUDGETS = new Map<string, never>();

function openEgress({ egressAllow, ownUrl, limits, log }: HostSettings): Egress {
  return createEgress({
    allow: egressAllow,
    ownUrl,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    lookups: limits.hostLookups,
    lookupsPerTenant: limits.tenantLookups,
    log,
  });
}
