import { HostError, type JsonObject } from '@weft/protocol';
import type { CreationRecord, ForkLink } from '../core/run-state.ts';
import type { Caller, ForkRequest, Forked, Host, IdempotencyClaim } from '../host.ts';
import type { RunRow, RunUnit, Store } from '../store.ts';
import type { Clock } from './clock.ts';
import type { Committer } from './committer.ts';
import type { Dispatcher } from './dispatcher.ts';
import { checkSameRequest, findRecord, type InFlight, newRecord } from './idempotency.ts';
import { type RandomBytes, randomId } from './ids.ts';
import type { HostLimits } from './limits.ts';
import { checkOptions, effectiveLimits } from './new-run-checks.ts';
import type { Plans } from './plans.ts';
import { writeFailure } from './write-failure.ts';

/**
 * Forks: a new run whose log begins as another's. The prefix is kept by reference, so a fork of a long run is made as fast as
 * one of a short run; it is folded when the fork is taken up.
 */
export interface ForkDependencies {
  readonly store: Pick<Store, 'readRun' | 'readWorkflow' | 'readIdempotency'>;
  readonly plans: Plans;
  readonly committer: Committer;
  readonly dispatcher: Dispatcher;
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly newRunId: () => string;
}

export function createFork(dependencies: ForkDependencies): Pick<Host, 'fork'> {
  const { store, plans, committer, dispatcher, clock, limits } = dependencies;

  async function fork(
    caller: Caller,
    runId: string,
    request: ForkRequest,
    claim: IdempotencyClaim | undefined,
  ): Promise<Forked | undefined> {
    if (claim !== undefined) {
      const known = await findRecord(store, caller, claim, clock.now());
      if (known !== undefined && 'body' in known.response) return { replayed: true, ...known.response };
    }
    const source = await store.readRun(runId, caller.tenant);
    if (source === undefined) return undefined;
    const fromSeq = cutOf(source, request);
    const record = await recordOf(caller, source, request, fromSeq);
    const answer = {
      runId: record.runId,
      sourceRunId: runId,
      fromSeq,
      mode: request.mode,
      status: 'pending',
    };
    const unit: RunUnit = {
      kind: 'run',
      batchId: randomId(dependencies.random),
      runId: record.runId,
      create: { record, exclusiveScope: false },
      epoch: 0,
      expectedSeq: fromSeq,
      events: [],
      head: { status: 'pending', wakeAt: 0 },
      ...(claim !== undefined && {
        idempotency: newRecord(caller, claim, clock.now() + limits.idempotencyKeptMs, claim.render(answer)),
      }),
    };
    const result = await committer.submit(unit);
    if (result.state === 'refused' && result.reason === 'idempotency_exists' && claim !== undefined) {
      const { response } = checkSameRequest(result.record, claim);
      if ('body' in response) return { replayed: true, ...response };
    }
    if (result.state !== 'committed') throw writeFailure(result);
    dispatcher.pending(record.runId);
    return { replayed: false, runId: record.runId, fromSeq };
  }

  async function recordOf(
    caller: Caller,
    source: RunRow,
    request: ForkRequest,
    fromSeq: number,
  ): Promise<CreationRecord> {
    const { fork: _earlier, imported: _imported, parent: _parent, ...kept } = source.record;
    const overlay = request.overlay ?? {};
    const configurable: JsonObject = { ...kept.configurable, ...overlay.configurable };
    const definition = await definitionOf(caller, source.record, request);
    const plan = await plans.get(definition.definitionDigest);
    checkOptions(caller, { configurable, metadata: overlay.metadata ?? {} }, plan, limits);
    return {
      ...kept,
      ...definition,
      runId: dependencies.newRunId(),
      createdAt: clock.now(),
      inputs: { ...kept.inputs, ...request.values },
      configurable,
      tags: overlay.tags ?? kept.tags,
      metadata: { ...kept.metadata, ...overlay.metadata },
      limits: request.mode === 'replay' ? kept.limits : effectiveLimits({ configurable }, plan, limits),
      fork: linkOf(source, request.mode, fromSeq),
    };
  }

  /** The source's own, unless a branch asks for another version of the same workflow. */
  async function definitionOf(
    caller: Caller,
    record: CreationRecord,
    { workflowVersion }: ForkRequest,
  ): Promise<Pick<CreationRecord, 'workflowVersion' | 'definitionDigest'>> {
    if (workflowVersion === undefined) {
      const { workflowVersion, definitionDigest } = record;
      return { workflowVersion, definitionDigest };
    }
    const found = await store.readWorkflow(caller.tenant, record.workflowId, workflowVersion);
    if (found === undefined) {
      throw new HostError('not_found', 'The workflow has no such version. Register it first.', {
        field: 'workflowVersion',
      });
    }
    return { workflowVersion: found.version, definitionDigest: found.digest };
  }

  return {
    fork: (caller, runId, request, claim) =>
      claim === undefined
        ? fork(caller, runId, request, undefined)
        : dependencies.inFlight.once(caller, claim, () => fork(caller, runId, request, claim)),
  };
}

/** Where to cut; a replay begins at the start unless it is told otherwise. */
function cutOf(source: RunRow, { mode, fromSeq }: ForkRequest): number {
  if (fromSeq === undefined && mode === 'branch') {
    throw new HostError('validation_error', 'A branch needs fromSeq: the sequence to go on from.', {
      field: 'fromSeq',
    });
  }
  const cut = fromSeq ?? 0;
  if (cut < Math.max(source.nextSeq, 1)) return cut;
  throw new HostError(
    'fork_out_of_range',
    `The run has ${source.nextSeq} events, so it can be forked from 0 to ${Math.max(source.nextSeq - 1, 0)}.`,
    {
      field: 'fromSeq',
      sourceRunId: source.record.runId,
      fromSeq: cut,
      max: Math.max(source.nextSeq - 1, 0),
    },
  );
}

function linkOf(source: RunRow, mode: ForkLink['mode'], fromSeq: number): ForkLink {
  const { runId, fork } = source.record;
  const seedRunId = fork?.mode === 'replay' ? (fork.seedRunId ?? fork.sourceRunId) : runId;
  return {
    sourceRunId: runId,
    fromSeq,
    mode,
    ...(mode === 'replay' && { sourceLength: source.nextSeq, seedRunId }),
  };
}
