import { warmUpChecks } from '../core/compile/document.ts';
import { errorFields } from '../ports/log.ts';
import { createDiscovery, type Discovery } from './capabilities.ts';
import type { Host } from './host.ts';
import type { HostOptions } from './host-options.ts';
import { settleHostId, settleMode } from './host-settings.ts';
import { createRuntime, type Runtime } from './wiring/create-runtime.ts';
import { createSurface } from './wiring/create-surface.ts';
import { openStores, type Stores } from './wiring/open-stores.ts';
import { type HostSettings, settingsFrom } from './wiring/settings.ts';

export type { HostOptions } from './host-options.ts';
export { DEFAULT_TENANT } from './wiring/settings.ts';

const PRUNE_EVERY_MS = 60 * 60 * 1_000;
/** What `core.http.request` offers; the node's own schema bounds it. */
const HTTP_CLIENT = {
  maxResponseBodyBytes: 1_048_576,
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
};

/** Puts the engine together. Nothing runs before `start`. */
export function createHost(options: HostOptions): Host {
  const settings = settingsFrom(options);
  const stores = openStores(settings);
  const runtime = createRuntime(settings, stores);
  const discovery = createDiscovery({
    ...settings,
    store: stores.store,
    compile: runtime.compile,
    offersTool: runtime.offersTool,
    httpClient: HTTP_CLIENT,
    secrets: runtime.sealer !== undefined,
    auditLogIntegrity: runtime.audit.integrity,
  });
  const { hostId, ...life } = createLife(settings, stores, runtime, discovery);
  const ends: (() => void)[] = [];
  const atStop = (end: () => void): void => void ends.push(end);
  return {
    ...createSurface({ settings, stores, runtime, discovery, hostId, atStop }),
    ...life,
    stop(graceMs) {
      for (const end of ends) end();
      return life.stop(graceMs);
    },
  };
}

interface Life extends Pick<Host, 'start' | 'stop'> {
  /** What tells this host from others; known once it has started. */
  hostId(): string;
}

/** In which order the parts begin and end. */
function createLife(settings: HostSettings, stores: Stores, runtime: Runtime, discovery: Discovery): Life {
  const { log, random, test } = settings;
  const { store, committer } = stores;
  const { audit, dispatcher, feed, lease, linkKeys, member, outbox, overload, retention, starting, workers } =
    runtime;
  let hostId = '';
  let unwatch: (() => void) | undefined;
  let pruning: NodeJS.Timeout | undefined;

  function prune(): void {
    store.prune().catch((error: unknown) => log('warn', errorFields(error), 'pruning failed'));
  }

  return {
    hostId: () => hostId,

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
        if (elsewhere === true) workers.look(runId);
        const actor = dispatcher.actor(runId);
        if (actor === undefined) feed.signal(runId);
        // No other process appends to a run that is held here, so one may have put a command into its inbox.
        else if (elsewhere === true) actor.poke();
      });
      workers.start();
      await lease.start();
      dispatcher.start();
      starting.scheduler.start();
      member.start();
      pruning = setInterval(prune, PRUNE_EVERY_MS);
      pruning.unref();
      retention.start();
    },

    async stop(graceMs) {
      clearInterval(pruning);
      member.stop();
      linkKeys.stop();
      retention.stop();
      await starting.scheduler.stop();
      workers.drain();
      await Promise.all([dispatcher.stop(graceMs), outbox.stop(graceMs)]);
      const isFree = await workers.stop();
      await audit.stop(graceMs);
      await committer.idle();
      const holder = lease.stop();
      // While a worker may be at a task of theirs, runs are left to their deadline; so they are by a store that is away now.
      if (holder !== undefined && isFree)
        await store
          .releaseAll(holder)
          .catch((error: unknown) => log('warn', errorFields(error), 'claims could not be given back'));
      unwatch?.();
      overload.stop();
    },
  };
}
