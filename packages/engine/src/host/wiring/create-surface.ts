import { createCostReport } from '../../runtime/costs/cost-report.ts';
import { createAnnotations } from '../../runtime/annotations/annotations.ts';
import { createKeys } from '../../runtime/auth/keys.ts';
import { createSessions, withSessions } from '../../runtime/auth/sessions.ts';
import { createWorkspaces, ofWholeTenant } from '../../runtime/auth/workspaces.ts';
import { createBundles } from '../../runtime/bundles/bundle.ts';
import { createImports } from '../../runtime/bundles/import.ts';
import { createFillImported, withImportedAnnotations } from '../../runtime/bundles/imported-values.ts';
import { createRunSpans } from '../../runtime/bundles/run-spans.ts';
import { createCommands } from '../../runtime/commands/commands.ts';
import { createOnce } from '../../runtime/commits/idempotency.ts';
import { createDiff } from '../../runtime/diff/diff.ts';
import { createReadArtifacts } from '../../runtime/effects/artifacts.ts';
import { createFork } from '../../runtime/forks/fork.ts';
import { createInterrupts } from '../../runtime/interrupts/interrupts.ts';
import { createPackRegistry } from '../../runtime/packs/registry.ts';
import { createCatalogue } from '../../runtime/node-types/catalogue.ts';
import { tellingRemoved } from '../../runtime/retention/retention.ts';
import { createAncestry } from '../../runtime/runs/ancestry.ts';
import { createStateAt } from '../../runtime/runs/state-at.ts';
import { createManageSecrets } from '../../runtime/secrets/manage-secrets.ts';
import { createKeptDefinitions } from '../../runtime/workflows/kept-definitions.ts';
import { createPin } from '../../runtime/workflows/pin-definition.ts';
import { createWorkflows } from '../../runtime/workflows/workflows.ts';
import type { Authenticate } from '../../ports/authenticate.ts';
import { type Discovery, IMPLEMENTATION, isFixture } from '../capabilities.ts';
import type { Host } from '../host.ts';
import { createReadiness } from '../readiness.ts';
import type { Runtime } from './create-runtime.ts';
import type { Stores } from './open-stores.ts';
import type { HostSettings } from './settings.ts';

export interface SurfaceParts {
  readonly settings: HostSettings;
  readonly stores: Stores;
  readonly runtime: Runtime;
  readonly discovery: Discovery;
  /** Known once the host has started. */
  readonly hostId: () => string;
  /** What is to end with the host. */
  readonly atStop: (end: () => void) => void;
}

/** The groups of the host, put together from what runs it. */
export function createSurface(parts: SurfaceParts): Omit<Host, 'start' | 'stop'> {
  const { settings, stores, runtime, discovery, hostId } = parts;
  const { clock, random, limits, test } = settings;
  const { store, seen, visible, committer, quarantine } = stores;
  const { compile, plans, nodeTypes, states, idempotency, newRunId, dispatcher, outbox, links, sealer } =
    runtime;
  const { withState, ...readers } = runtime.readers;
  const { starting, agents } = runtime;
  const { find: _find, ...prompts } = runtime.prompts;
  const { ingest, ...managedTriggers } = starting.triggers;
  const common = {
    store: visible,
    committer: outbox.committer,
    dispatcher,
    idempotency,
    clock,
    random,
    limits,
  };
  const readEvents = store.readEvents;
  // A run whose record is damaged can still be cancelled.
  const command = createCommands({
    ...common,
    store: tellingRemoved(seen),
    commandResults: runtime.commandResults,
    withState,
  });
  const { of: annotationsOf, ...annotations } = withImportedAnnotations(
    store,
    createAnnotations({ ...common, withState }),
  );
  const apiKeys = createKeys({ ...common, test });
  const { hashOf: _hashOf, stateOf: _stateOf, authenticate, ...keys } = apiKeys;
  const sessions = createSessions({ ...common, keys: apiKeys, test });
  const workspaces = createWorkspaces(store);
  const { diff } = createDiff({ store: visible, readEvents, states });
  const runs: Host['runs'] = {
    create: runtime.creator.create,
    ...createFork({
      ...common,
      plans,
      states,
      newRunId,
      conformance: settings.conformance,
      models: settings.models,
      fillImported: createFillImported(store),
    }),
    ...createAncestry({ store: visible, plans, hostId }),
    ...createStateAt({ store: visible, states }),
    ...readers,
    command,
    async release(caller, runId) {
      const isReleased = await quarantine.release(caller, runId);
      if (isReleased) dispatcher.wake();
      return isReleased;
    },
    async diff(caller, runId, against, signal) {
      await workspaces.check(caller, against);
      return await diff(caller, runId, against, signal);
    },
  };
  const workflows = createWorkflows({
    ...common,
    compile,
    plans,
    pin: createPin(runtime.ownTypes, runtime),
    test,
    owned: starting.owned,
    wake: () => starting.wake(),
    onRegistered: (tenant, workflowId) =>
      tenant === settings.defaultTenant && isFixture(workflowId) ? discovery.refresh() : Promise.resolve(),
  });
  const kept = createKeptDefinitions({ workflows, nodeTypes, log: settings.log });
  parts.atStop(kept.stop);
  const bundles = createBundles({
    store: visible,
    readEvents,
    snapshot: readers.snapshot,
    withState,
    annotationsOf,
    host: { ...IMPLEMENTATION, version: settings.version },
    now: clock.now,
    key: settings.auditKey,
  });

  return {
    runs: workspaces.guard(runs, [
      'fork',
      'ancestry',
      'snapshot',
      'stateAt',
      'explain',
      'events',
      'follow',
      'command',
      'release',
      'diff',
    ]),
    bundles: workspaces.guard(bundles, ['text']),
    imports: createImports({ store, committer, compile, clock, random, limits }),
    annotations: workspaces.guard(annotations, ['create', 'list']),
    interrupts: createInterrupts({ store, command, withState, links, idempotency, now: clock.now }),
    workflows: { ...workflows, keep: kept.keep, waiting: kept.waiting },
    nodeTypes: createCatalogue(runtime.ownTypes, nodeTypes, runtime.workers.workers),
    models: runtime.models,
    costs: {
      ...ofWholeTenant({ report: createCostReport(store, clock) }),
      setPrices: runtime.priceLists.put,
      listPrices: runtime.priceLists.list,
      removePrices: runtime.priceLists.remove,
    },
    keys: {
      ...keys,
      // Checks the tenant as well.
      revoke: async (caller, keyId, tenant = caller.tenant) =>
        (await keys.revoke(caller, keyId, tenant)) || sessions.revoke(caller, keyId, tenant),
      rotateLinks: runtime.linkKeys.rotateLinks,
    },
    sessions: { createCode: sessions.createCode, open: sessions.open, end: sessions.end },
    operations: {
      ...workspaces.guard(runtime.retention.operations, ['purge', 'erase']),
      readiness: createReadiness({ store, committer, clock, random }),
      overload: runtime.overload.check,
      quarantinedRuns: () => store.countQuarantined(),
      observe: stores.observation.observe,
      runSpans: createRunSpans(store),
      async longestWaitMs() {
        const dueAt = await store.nextDueAt();
        return dueAt === undefined ? 0 : Math.max(clock.now() - dueAt, 0);
      },
    },
    webhooks: ofWholeTenant(outbox.webhooks),
    prompts: ofWholeTenant(prompts),
    schedules: ofWholeTenant(starting.schedules),
    triggers: { ...ofWholeTenant(managedTriggers), ingest },
    deadLetters: ofWholeTenant(starting.deadLetters),
    secrets: createManageSecrets({ ...common, sealer }),
    artifacts: workspaces.guard(createReadArtifacts(visible), ['open', 'list']),
    audit: runtime.audit.operations,
    cluster: runtime.member.cluster,
    workers: runtime.workers.workers,
    toolServers: runtime.toolServers,
    agents: { install: agents.install, list: agents.list },
    peers: runtime.peers,
    taskPushes: outbox.taskPushes && workspaces.guard(outbox.taskPushes, ['set', 'list', 'remove']),
    packs: settings.packs && createPackRegistry({ ...common, store, format: settings.packs }),
    authenticate: apiKeysAfter(settings.authenticate, withSessions(sessions, authenticate)),
    once: createOnce(idempotency, common),
    capabilities: discovery.current,
    stats: () => statsOf(stores, runtime),
  };
}

/** A credential that the operator's own way of authentication does not know may still be an API key. */
function apiKeysAfter(own: Authenticate | undefined, apiKeys: Authenticate): Authenticate {
  if (own === undefined) return apiKeys;
  return async (credential) => {
    const answer = await own(credential);
    return answer.state === 'unknown' ? apiKeys(credential) : answer;
  };
}

function statsOf({ committer, observation }: Stores, runtime: Runtime): ReturnType<Host['stats']> {
  const { dispatcher, performer, workers, feed, overload, outbox, lease } = runtime;
  return {
    ...dispatcher.counts(),
    effectsActive: performer.active(),
    effectsQueued: performer.queued(),
    workersConnected: workers.counts().workers,
    tasksWaiting: workers.counts().waiting,
    tasksHeld: workers.counts().held,
    listeners: feed.listeners(),
    commits: committer.written().groups,
    committedUnits: committer.written().units,
    waitingUnits: committer.waiting().units,
    waitingBytes: committer.waiting().bytes,
    loopDelayMs: overload.loopDelayMs(),
    deliveriesSending: outbox.counts().sending,
    deliveriesQueued: outbox.counts().queued,
    claimAgeMs: observation.claimAgeMs() ?? null,
    holder: lease.holder() ?? null,
  };
}
