import { errorFields } from '../../ports/log.ts';
import type { Store } from '../../ports/store.ts';
import { type Committer, createCommitter } from '../../runtime/commits/committer.ts';
import { fairReads } from '../../runtime/fairness/fair-reads.ts';
import { joinForks } from '../../runtime/forks/join-forks.ts';
import { guardDamage } from '../../runtime/quarantine/damage-guard.ts';
import { createQuarantine, type Quarantine } from '../../runtime/quarantine/quarantine.ts';
import { tellingRemoved } from '../../runtime/retention/retention.ts';
import { createObservation, type Observation } from '../observation.ts';
import type { HostSettings } from './settings.ts';

/** The store as the different parts of the host see it, and the one way to write to it. */
export interface Stores {
  /** Read in turns, and otherwise as it is: it tells of damage instead of throwing it. */
  readonly seen: Store;
  /** Damage is an error and quarantines its run; a fork's log is whole. */
  readonly store: Store;
  /** The same for callers: the tenant of a removed run gets `run_expired`. */
  readonly visible: Store;
  readonly committer: Committer;
  readonly quarantine: Quarantine;
  readonly observation: Observation;
}

export function openStores(settings: HostSettings): Stores {
  const { clock, limits, log } = settings;
  const observation = createObservation(settings.store, clock, log);
  const seen = fairReads(observation.store);
  const committer = createCommitter({
    store: seen,
    log,
    maxUnits: limits.commitUnits,
    maxBytes: limits.commitBytes,
  });
  const quarantine = createQuarantine({ ...settings, store: seen, committer });
  const guarded = guardDamage(seen, ({ runId, message }) => {
    quarantine
      .setAside(runId, message)
      .catch((error: unknown) => log('warn', errorFields(error), 'a damaged run could not be quarantined'));
  });
  const store = joinForks(guarded);
  return { seen, store, visible: tellingRemoved(store), committer, quarantine, observation };
}
