import { HostError, type Json, type JsonObject } from '@weft/protocol';
import type { CreationRecord, ForkLink } from '../../model/run-state.ts';
import type { Caller, ForkRequest, Forked, ForkedRun, Runs } from '../../host/host.ts';
import type { Conformance } from '../../ports/conformance.ts';
import type { Models } from '../../ports/models.ts';
import type { RunRow, RunUnit, Store } from '../../ports/store.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import {
  checkHistory,
  checkMode,
  checkNodes,
  checkValues,
  cutOf,
  expiredSource,
  sourceGone,
} from './fork-checks.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { checkDefinition, type FillImported } from '../bundles/imported-values.ts';
import type { HostLimits } from '../../host/limits.ts';
import { checkOptions, effectiveLimits } from '../runs/new-run-checks.ts';
import type { Plans } from '../workflows/plans.ts';
import { branchBeginning } from '../scheduling/replay-source.ts';
import type { RunStates } from '../runs/states.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * Forks: a new run whose log begins as another's. The prefix is kept by reference, so a fork of a long run is made as fast as
 * one of a short run; it is folded when the fork is taken up.
 */
export interface ForkDependencies {
  readonly store: Pick<Store, 'readRun' | 'readWorkflow'>;
  readonly plans: Plans;
  readonly states: RunStates;
  readonly committer: Committer;
  readonly dispatcher: Dispatcher;
  readonly idempotency: Idempotency;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly newRunId: () => string;
  /** Of a test host. */
  readonly conformance?: Conformance | undefined;
  readonly models: Pick<Models, 'offered'>;
  /** What a fork of an imported run gets in place of what was masked there. */
  readonly fillImported: FillImported;
}

const VERSION_OPTION = 'weft.workflowVersion';

export function createFork(dependencies: ForkDependencies): Pick<Runs, 'fork'> {
  const { store, plans, committer, dispatcher, clock, limits } = dependencies;

  async function fork(
    caller: Caller,
    runId: string,
    request: ForkRequest,
    remember: Remember<ForkedRun>,
  ): Promise<Forked | undefined> {
    const source = await sourceOf(caller, runId, request);
    if (source === undefined) return undefined;
    checkMode(request);
    const fromSeq = await beginOf(source, request);
    const needed = await checkHistory(store, source, request, fromSeq);
    const record = await recordOf(caller, source, request, fromSeq);
    const answer: ForkedRun = {
      runId: record.runId,
      sourceRunId: runId,
      fromSeq,
      mode: request.mode,
      status: 'pending',
    };
    const unit: RunUnit = {
      kind: 'run',
      batchId: randomId(dependencies.random),
      tenant: record.tenant,
      runId: record.runId,
      create: { record, exclusiveScope: false, whileKept: needed },
      epoch: 0,
      expectedSeq: fromSeq,
      events: [],
      head: { status: 'pending', wakeAt: 0 },
      ...remember.answer(answer),
    };
    const result = await committer.submit(unit);
    if (result.state === 'refused' && result.reason === 'source_gone') throw sourceGone(source, fromSeq);
    if (result.state !== 'committed') throw writeFailure(result);
    dispatcher.pending(record.runId, record.tenant);
    return { replayed: false, ...answer };
  }

  /** A replay of a branch begins where the branch did, at the earliest. */
  async function beginOf(source: RunRow, request: ForkRequest): Promise<number> {
    const cut = cutOf(source, request);
    return request.mode === 'branch' ? cut : Math.max(cut, await branchBeginning(store, source));
  }

  async function sourceOf(caller: Caller, runId: string, request: ForkRequest): Promise<RunRow | undefined> {
    try {
      return await store.readRun(runId, caller.tenant);
    } catch (error) {
      throw expiredSource(error, runId, request);
    }
  }

  async function recordOf(
    caller: Caller,
    source: RunRow,
    request: ForkRequest,
    fromSeq: number,
  ): Promise<CreationRecord> {
    const { fork: _earlier, imported: _imported, parent: _parent, ...kept } = source.record;
    const overlay = request.overlay ?? {};
    const definition = await definitionOf(caller, source.record, versionAsked(request));
    const configurable: JsonObject = {
      ...kept.configurable,
      ...overlay.configurable,
      // Where it names a version, it names the one that runs.
      ...(kept.configurable[VERSION_OPTION] !== undefined && {
        [VERSION_OPTION]: definition.workflowVersion,
      }),
    };
    const plan = await plans.get(definition.definitionDigest, caller.tenant);
    const filled = await dependencies.fillImported({ source, request, fromSeq, plan });
    const inputs = { ...kept.inputs, ...(filled === undefined ? request.values : filled.inputs) };
    const metadata = { ...kept.metadata, ...overlay.metadata };
    const isOther = definition.definitionDigest !== kept.definitionDigest;
    // What a replay runs under was accepted once; a setting that changed since then does not matter.
    if (request.mode === 'branch') checkOptions(caller, { configurable, metadata }, plan, dependencies);
    if (request.values !== undefined || isOther) checkValues(inputs, plan);
    if (isOther) checkNodes((await dependencies.states.upTo(source.record, fromSeq)).state, plan);
    return {
      ...kept,
      ...definition,
      runId: dependencies.newRunId(),
      createdAt: clock.now(),
      inputs,
      configurable,
      tags: overlay.tags ?? kept.tags,
      metadata,
      limits: request.mode === 'replay' ? kept.limits : effectiveLimits({ configurable }, plan, limits),
      fork: {
        ...linkOf(source, request.mode, fromSeq),
        ...(filled !== undefined && Object.keys(filled.events).length > 0 && { filled: filled.events }),
      },
    };
  }

  /** The source's own, unless a branch asks for another version of the same workflow. */
  async function definitionOf(
    caller: Caller,
    record: CreationRecord,
    asked: Json | undefined,
  ): Promise<Pick<CreationRecord, 'workflowVersion' | 'definitionDigest'>> {
    const { workflowVersion, definitionDigest, imported } = record;
    checkDefinition(record, asked !== undefined);
    const isOwn = asked === undefined || (asked === workflowVersion && imported?.definition === undefined);
    if (isOwn) return { workflowVersion, definitionDigest };
    const found = await store.readWorkflow(caller.tenant, record.workflowId, String(asked));
    if (found === undefined) {
      throw new HostError('not_found', 'The workflow has no such version. Register it first.', {
        field: 'workflowVersion',
      });
    }
    return { workflowVersion: found.version, definitionDigest: found.digest };
  }

  return {
    fork: (caller, runId, request, claim) =>
      dependencies.idempotency.once(caller, claim, (remember) => fork(caller, runId, request, remember)),
  };
}

/** By its own field, or by the option that a new run names it with. */
function versionAsked({ workflowVersion, overlay }: ForkRequest): Json | undefined {
  return workflowVersion ?? overlay?.configurable?.[VERSION_OPTION];
}

function linkOf(source: RunRow, mode: ForkLink['mode'], fromSeq: number): ForkLink {
  const { runId, fork, createdAt } = source.record;
  const seedRunId = fork?.mode === 'replay' ? (fork.seedRunId ?? fork.sourceRunId) : runId;
  const branchedAt = fork?.mode === 'branch' ? createdAt : fork?.branchedAt;
  return {
    sourceRunId: runId,
    fromSeq,
    mode,
    ...(mode === 'replay' && { sourceLength: source.nextSeq, seedRunId }),
    ...(mode === 'replay' && branchedAt !== undefined && { branchedAt }),
  };
}
