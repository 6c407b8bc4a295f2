import type { Claimed } from '../../ports/store.ts';
import { createEphemeralMap } from '../collections/ephemeral-map.ts';
import type { Ending, RunActor } from './run-actor.ts';

/**
 * What this process has to do with each run:
 *
 *   ──claim──► loading ──hold──► held ──end──► gone, or claimed again after a failure
 *                                      └─────► releasing ──► gone
 *
 * loading    claimed, without an actor under this claim: it is being loaded, or waits until it is tried again
 * held       an actor drives it
 * releasing  its actor has stopped, and the claim is being given up
 */
export type HeldState =
  | {
      readonly state: 'loading';
      readonly claim: Claimed;
      /** Under an earlier claim: it is dropped when this one is loaded. */
      readonly actor: RunActor | undefined;
      readonly failures: Failures;
    }
  | { readonly state: 'held'; readonly actor: RunActor; readonly failures: Failures }
  | { readonly state: 'releasing'; readonly actor: undefined };

/** How often in a row. */
export interface Failures {
  /** Its actor has failed. */
  readonly crashed: number;
  /** The store refused what it wrote, and took what others did. */
  readonly unwritable: number;
}

const NO_FAILURES: Failures = { crashed: 0, unwritable: 0 };
const RELEASING: HeldState = { state: 'releasing', actor: undefined };

export class HeldRuns {
  readonly #runs = createEphemeralMap<HeldState>();

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  all(): HeldState[] {
    return this.#runs.values();
  }

  actors(): RunActor[] {
    return this.all().flatMap(({ actor }) => actor ?? []);
  }

  actor(runId: string): RunActor | undefined {
    return this.#runs.get(runId)?.actor;
  }

  /** True where the run is here, or comes here. */
  has(runId: string): boolean {
    const known = this.#runs.get(runId);
    return known !== undefined && known.state !== 'releasing';
  }

  /** Without a claim: under any. */
  isLoading(runId: string, epoch?: number): boolean {
    const known = this.#runs.get(runId);
    return known?.state === 'loading' && (epoch === undefined || known.claim.epoch === epoch);
  }

  /** The run is to be loaded. False where it is being loaded, under this claim or a newer one. */
  claim(claim: Claimed, failures?: Failures): boolean {
    const known = this.#runs.get(claim.runId);
    if (known?.state === 'loading' && known.claim.epoch >= claim.epoch) return false;
    const counted =
      failures ?? (known === undefined || known.state === 'releasing' ? NO_FAILURES : known.failures);
    this.#runs.set(claim.runId, { state: 'loading', claim, actor: known?.actor, failures: counted });
    return true;
  }

  /** Nothing more comes of the claim; where it was held, that has happened before. */
  loaded({ runId, epoch }: Claimed): void {
    const known = this.#runs.get(runId);
    if (known?.state !== 'loading' || known.claim.epoch !== epoch) return;
    const { actor, failures } = known;
    if (actor === undefined) this.#runs.delete(runId);
    else this.#runs.set(runId, { state: 'held', actor, failures });
  }

  hold(actor: RunActor): void {
    const known = this.#runs.get(actor.runId);
    const failures = known?.state === 'loading' ? known.failures : NO_FAILURES;
    this.#runs.set(actor.runId, { state: 'held', actor, failures });
  }

  /** What has failed in a row, with this; undefined where the run has another actor. */
  end(actor: RunActor, ending: Ending['type']): Failures | undefined {
    const known = this.#runs.get(actor.runId);
    if (known === undefined || known.actor !== actor) return undefined;
    const failures = {
      crashed: ending === 'crashed' ? known.failures.crashed + 1 : 0,
      unwritable: ending === 'unwritable' ? known.failures.unwritable + 1 : 0,
    };
    if (known.state === 'loading') this.#runs.set(actor.runId, { ...known, actor: undefined, failures });
    else this.#runs.delete(actor.runId);
    return failures;
  }

  releasing(runId: string): void {
    if (this.#runs.get(runId) === undefined) this.#runs.set(runId, RELEASING);
  }

  released(runId: string): void {
    if (this.#runs.get(runId) === RELEASING) this.#runs.delete(runId);
  }
}
