import { randomBytes } from 'node:crypto';
import { warmUpChecks } from '../core/compile/document.ts';
import type { Host } from './host.ts';
import type { HostOptions } from './host-options.ts';
import { createAncestry } from '../runtime/runs/ancestry.ts';
import { createReadArtifacts } from '../runtime/effects/artifacts.ts';
import { createAnnotations } from '../runtime/annotations/annotations.ts';
import { createAudit } from '../runtime/audit/audit.ts';
import { createBundles } from '../runtime/bundles/bundle.ts';
import { createCancelAside } from '../runtime/quarantine/cancel-aside.ts';
import { createDiscovery, IMPLEMENTATION, isFixture } from './capabilities.ts';
import { SYSTEM_CLOCK } from '../ports/clock.ts';
import { createCluster } from '../runtime/cluster/cluster.ts';
import { createCommands } from '../runtime/commands/commands.ts';
import { createCommitter } from '../runtime/commits/committer.ts';
import { createCompile } from '../runtime/workflows/create-compile.ts';
import { guardDamage } from '../runtime/quarantine/damage-guard.ts';
import { createRunCreator } from '../runtime/runs/create-run.ts';
import { createDiff } from '../runtime/diff/diff.ts';
import { createDispatcher } from '../runtime/scheduling/dispatcher.ts';
import { createEgress } from '../runtime/egress/egress.ts';
import { fairReads } from '../runtime/fairness/fair-reads.ts';
import { createFeed } from '../runtime/streams/feed.ts';
import { createFork } from '../runtime/forks/fork.ts';
import { createFinishedRuns } from '../runtime/runs/finished-runs.ts';
import { settleHostId, settleMode } from './host-settings.ts';
import { createInFlight } from '../runtime/commits/idempotency.ts';
import { createRunIds, poolRandom, randomId } from '../runtime/runs/ids.ts';
import { createImports } from '../runtime/bundles/import.ts';
import { createFillImported, withImportedAnnotations } from '../runtime/bundles/imported-values.ts';
import { createInterrupts } from '../runtime/interrupts/interrupts.ts';
import { joinForks } from '../runtime/forks/join-forks.ts';
import { createRetention, tellingRemoved } from '../runtime/retention/retention.ts';
import { createKeys } from '../runtime/auth/keys.ts';
import { createLease } from '../runtime/scheduling/lease.ts';
import { limitsFrom } from './limits.ts';
import { createLinkKeys } from '../runtime/interrupts/link-keys.ts';
import { createLinks } from '../runtime/interrupts/links.ts';
import { errorFields, SILENT } from '../ports/log.ts';
import { createObservation } from './observation.ts';
import { createOnce } from '../runtime/commits/once.ts';
import { createOpenEffectPorts } from '../runtime/effects/open-effect-ports.ts';
import { createOutbox } from '../runtime/outbox/create-outbox.ts';
import { createOverloadGauge } from '../runtime/fairness/overload.ts';
import { createPerformer } from '../runtime/effects/performer.ts';
import { createPlans } from '../runtime/workflows/plans.ts';
import { createQuarantine } from '../runtime/quarantine/quarantine.ts';
import { createReaders } from '../runtime/runs/readers.ts';
import { createReadiness } from './readiness.ts';
import { createRunSpans } from '../runtime/bundles/run-spans.ts';
import { withConformanceSecrets } from '../conformance/conformance-secrets.ts';
import { createManageSecrets } from '../runtime/secrets/manage-secrets.ts';
import { createLocalResolver, openSealer } from '../runtime/secrets/resolver.ts';
import { createStateAt } from '../runtime/runs/state-at.ts';
import { createRunStates } from '../runtime/runs/states.ts';
import { createSpawnChild } from '../runtime/scheduling/spawn-child.ts';
import { createVerdicts } from '../runtime/commands/verdicts.ts';
import { createWorkflows } from '../runtime/workflows/workflows.ts';
import { writeFailure } from '../runtime/commits/write-failure.ts';
import type { AuditEntry, Notice, Verdict } from '../ports/store.ts';

export type { HostOptions } from './host-options.ts';

export const DEFAULT_TENANT = 'default';

const CONNECT_TIMEOUT_MS = 10_000;
const PRUNE_EVERY_MS = 60 * 60 * 1_000;
/** What `core.http.request` offers; the node's own schema bounds it. */
const HTTP_CLIENT = {
  maxResponseBodyBytes: 1_048_576,
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
};

/** Puts the engine together. Nothing runs before `start`. */
export function createHost(options: HostOptions): Host {
  const log = options.log ?? SILENT;
  const clock = options.clock ?? SYSTEM_CLOCK;
  const observation = createObservation(options.store, clock, log);
  const seen = fairReads(observation.store);
  const store = joinForks(
    guardDamage(seen, ({ runId, message }) => {
      quarantine
        .setAside(runId, message)
        .catch((error: unknown) => log('warn', errorFields(error), 'a damaged run could not be quarantined'));
    }),
  );
  const random = poolRandom(options.random ?? randomBytes);
  const limits = limitsFrom(options.limits);
  const {
    conformance: test = false,
    defaultTenant = DEFAULT_TENANT,
    runtimeCapabilities = [],
    auditRuns = false,
    exportsTelemetry = false,
    egressAllow = [],
  } = options;
  const capabilities = new Set(runtimeCapabilities);
  const compile = createCompile(options, limits, test);

  const committer = createCommitter({
    store,
    log,
    maxUnits: limits.commitUnits,
    maxBytes: limits.commitBytes,
  });
  const plans = createPlans(store, compile);
  const states = createRunStates(store, plans, limits);
  const feed = createFeed(limits);
  const verdicts = createVerdicts();
  const egress =
    options.egress ??
    createEgress({
      allow: egressAllow,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      lookups: limits.hostLookups,
      lookupsPerTenant: limits.tenantLookups,
      log,
    });
  const sealer = openSealer(options.secretsKey, options.random ?? randomBytes);
  const localSecrets = createLocalResolver(store, sealer);
  const linkKeys = createLinkKeys({
    store,
    committer,
    clock,
    random,
    log,
    secretsKey: options.secretsKey,
    refreshMs: limits.linkKeyRefreshMs,
  });
  const links = createLinks({ keys: linkKeys, now: clock.now, maxCallbackMs: limits.maxCallbackLinkMs });
  const openEffectPorts = createOpenEffectPorts({
    store,
    committer,
    resolver: test ? withConformanceSecrets(localSecrets) : localSecrets,
    clock,
    random,
    limits,
  });
  const outbox = createOutbox({
    store,
    committer,
    clock,
    random,
    limits,
    log,
    egress,
    egressAllow,
    sealing: sealer,
    version: options.version,
    retryScaleForTests: options.retryScaleForTests,
    publicUrl: options.publicUrl,
    links,
    withState: (row, use) => withState(row, use),
  });
  const performer = createPerformer({
    maxActive: limits.hostConcurrency,
    maxPerTenant: limits.tenantConcurrency,
    egress,
    openPorts: openEffectPorts,
    log,
  });
  const cluster = createCluster({
    store,
    committer,
    dispatcher: () => dispatcher,
    lease: () => lease,
    clock,
    random,
    log,
    name: `${options.node ?? 'node'}-${Buffer.from(random(3)).toString('hex')}`,
    version: options.version,
    everyMs: limits.heartbeatMs,
  });
  const lease = createLease({
    store,
    clock,
    random,
    log,
    ttlMs: limits.claimTtlMs,
    everyMs: limits.heartbeatMs,
    about: cluster.about,
    onLost: () => dispatcher.dropAll(),
  });
  const onVerdict = (commandId: string, verdict: Verdict): void => {
    verdicts.announce(commandId, verdict);
    observation.decided(commandId);
  };
  const onNotices = (notices: readonly Notice[]): void =>
    notices.forEach(({ runId }) => dispatcher.poke(runId));
  const quarantine = createQuarantine({
    store: seen,
    committer,
    clock,
    random,
    log,
    onReleased: () => dispatcher.wake(),
  });
  const dispatcher = createDispatcher({
    store,
    seen,
    quarantine,
    cancelAside: createCancelAside({
      store: seen,
      states,
      capabilities,
      committer: outbox.committer,
      outbox: outbox.rows,
      quarantine,
      feed,
      clock,
      random,
      limits,
      onVerdict,
      onNotices,
    }),
    lease,
    states,
    plans,
    capabilities,
    actors: {
      store,
      committer: outbox.committer,
      outbox: outbox.rows,
      performer,
      feed: observation.watching(feed),
      log,
      clock,
      random,
      limits,
      onVerdict,
      spawnChild: (parent, request) => spawnChild(parent, request),
      onNotices,
    },
  });
  const audit = createAudit({
    store,
    committer,
    clock,
    random,
    log,
    key: options.auditKey,
    anchor: options.auditAnchor,
  });
  const discovery = createDiscovery({
    store,
    compile,
    limits,
    defaultTenant,
    test,
    runtimeCapabilities,
    version: options.version,
    httpClient: HTTP_CLIENT,
    secrets: sealer !== undefined,
    auditLogIntegrity: audit.integrity,
    auditRuns,
    exportsTelemetry,
  });
  const overload = createOverloadGauge({ committer, dispatcher, limits });
  const visible = tellingRemoved(store);
  const shared = { store: visible, committer: outbox.committer, dispatcher, clock, random, limits };
  let unwatch: (() => void) | undefined;
  let pruning: NodeJS.Timeout | undefined;

  let hostId = '';

  function prune(): void {
    store.prune().catch((error: unknown) => log('warn', errorFields(error), 'pruning failed'));
  }

  const inFlight = createInFlight(limits.idempotencyWaitMs);
  const finished = createFinishedRuns(limits.finishedBytes, clock.monotonic);
  const retention = createRetention({
    store: visible,
    committer,
    finished,
    states,
    clock,
    random,
    limits,
    log,
  });
  const { sweep: _sweep, start: startRetention, stop: stopRetention, ...retentionOperations } = retention;
  const { withState, ...readers } = createReaders({
    store: visible,
    dispatcher,
    feed,
    states,
    finished,
    keptStateBytes: limits.keptStateBytes,
    links,
    now: clock.now,
  });
  // A run whose record is damaged can still be told to end.
  const command = createCommands({ ...shared, store: tellingRemoved(seen), verdicts, withState });
  const { of: annotationsOf, ...annotations } = withImportedAnnotations(
    store,
    createAnnotations({ ...shared, withState }),
  );
  const creator = createRunCreator({
    ...shared,
    plans,
    lease,
    capabilities,
    inFlight,
    finished,
    newRunId: createRunIds(clock.now, random),
    outbox: outbox.rows,
    checkCallbackUrl: outbox.checkCallbackUrl,
    auditRuns,
  });
  const forks = createFork({
    ...shared,
    plans,
    states,
    inFlight,
    newRunId: createRunIds(clock.now, random),
    fillImported: createFillImported(store),
  });
  const spawnChild = createSpawnChild({
    store,
    plans,
    limits,
    log,
    now: clock.now,
    create: creator.write,
  });
  return {
    createRun: creator.create,
    ...forks,
    ...createAncestry({ store: visible, plans, hostId: () => hostId }),
    ...createStateAt({ store: visible, states }),
    command,
    once: createOnce({ ...shared, inFlight }),
    ...readers,
    ...annotations,
    ...createImports({ store, committer, compile, clock, random, limits }),
    debugBundle: createBundles({
      store: visible,
      readEvents: (...asked) => store.readEvents(...asked),
      snapshot: readers.snapshot,
      withState,
      annotationsOf,
      host: { ...IMPLEMENTATION, version: options.version },
      now: clock.now,
      key: options.auditKey,
    }),
    ...createDiff({ store: visible, readEvents: (...asked) => store.readEvents(...asked), states }),
    ...createInterrupts({ store, command, withState, links, now: clock.now }),
    ...createWorkflows({
      ...shared,
      compile,
      plans,
      test,
      onRegistered: (tenant, workflowId) =>
        tenant === defaultTenant && isFixture(workflowId) ? discovery.refresh() : Promise.resolve(),
    }),
    ...createKeys({ ...shared, test }),
    rotateLinkKey: linkKeys.rotateLinkKey,
    ...createManageSecrets({ ...shared, sealer }),
    ...createReadArtifacts(visible),
    ...retentionOperations,
    ...outbox.operations,
    ...audit.operations,
    ...cluster.operations,

    async audit(entry: Omit<AuditEntry, 'at'>) {
      const result = await committer.submit({
        kind: 'audit',
        batchId: randomId(random),
        audit: [{ ...entry, at: clock.now() }],
      });
      if (result.state !== 'committed') throw writeFailure(result);
    },
    capabilities: discovery.current,
    releaseRun: quarantine.release,
    readiness: createReadiness({ store, committer, clock, random }),
    quarantinedRuns: () => store.countQuarantined(),
    overload: overload.check,
    observe: observation.observe,
    runSpans: createRunSpans(store),
    async longestWaitMs() {
      const dueAt = await store.nextDueAt();
      return dueAt === undefined ? 0 : Math.max(clock.now() - dueAt, 0);
    },
    stats: () => ({
      ...dispatcher.counts(),
      effectsActive: performer.active(),
      effectsQueued: performer.queued(),
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
    }),

    async start() {
      warmUpChecks();
      await settleMode({ store, committer, random }, test ? 'test' : 'live');
      // A host whose audit log is not the one that was anchored does nothing.
      await audit.start();
      hostId = await settleHostId({ store, committer, random });
      await linkKeys.start();
      await discovery.refresh();
      await outbox.start();
      overload.start();
      // What this process writes is published by its actors; only what others write is news here.
      unwatch = store.watch((runId, _nextSeq, elsewhere) => {
        const actor = dispatcher.actor(runId);
        if (actor === undefined) feed.signal(runId);
        // Nobody else appends to a run that is held here, so somebody may have put a command into its inbox.
        else if (elsewhere === true) actor.poke();
      });
      await lease.start();
      dispatcher.start();
      cluster.start();
      pruning = setInterval(prune, PRUNE_EVERY_MS);
      pruning.unref();
      startRetention();
    },

    async stop(graceMs) {
      clearInterval(pruning);
      cluster.stop();
      linkKeys.stop();
      stopRetention();
      await Promise.all([dispatcher.stop(graceMs), outbox.stop(graceMs)]);
      await audit.stop(graceMs);
      await committer.idle();
      const holder = lease.stop();
      // A store that is away now must not keep the process from ending: its runs then run into their deadline.
      if (holder !== undefined)
        await store
          .releaseAll(holder)
          .catch((error: unknown) => log('warn', errorFields(error), 'claims could not be given back'));
      unwatch?.();
      overload.stop();
    },
  };
}
