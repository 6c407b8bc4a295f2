import { HostError } from '@weft/protocol';
import { openRun } from '../../core/decide/advance.ts';
import { initialState } from '../../core/fold/evolve.ts';
import type { LiveRun } from '../../core/decide/live-run.ts';
import type { Plan } from '../../core/compile/plan.ts';
import {
  type CreationRecord,
  isTerminalStatus,
  type RunSource,
  type RunStatus,
} from '../../model/run-state.ts';
import type { Step } from '../../core/decide/step.ts';
import type { Accepted, AcceptedRun, Caller, IdempotencyClaim, NewRun } from '../../host/host.ts';
import type { Conformance } from '../../ports/conformance.ts';
import type { Models } from '../../ports/models.ts';
import type { RunUnit, Store, WorkflowRow } from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Committer, CommitResult } from '../commits/committer.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import type { ReceiverCheck } from '../egress/receiver.ts';
import type { FinishedRuns } from './finished-runs.ts';
import { type Idempotency, REMEMBER_NOTHING, type Remember } from '../commits/idempotency.ts';
import { randomId } from './ids.ts';
import type { Lease } from '../scheduling/lease.ts';
import {
  checkCallback,
  checkNewRun,
  effectiveLimits,
  engineVersionFor,
  undeclaredInputs,
} from './new-run-checks.ts';
import type { Plans } from '../workflows/plans.ts';
import { mayPark, batchUnit, type BatchTools, decideBatch } from '../scheduling/decide-batch.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * Creates runs. With room in memory, creation, claim and first batch are one write, so that a short run costs one
 * commit in its whole life; without, the run is created unclaimed and waits as `pending`. It is never refused for that.
 */
export interface CreateRunDependencies extends BatchTools {
  readonly store: Pick<Store, 'readWorkflow'>;
  readonly plans: Plans;
  readonly committer: Committer;
  readonly dispatcher: Dispatcher;
  readonly lease: Lease;
  readonly idempotency: Idempotency;
  readonly finished: FinishedRuns;
  readonly newRunId: () => string;
  readonly capabilities: ReadonlySet<string>;
  /** Of a test host. */
  readonly conformance?: Conformance | undefined;
  readonly models: Pick<Models, 'offered'>;
  /** Creating a run is an act to be kept in the audit log too. */
  readonly auditRuns: boolean;
  /** Why callbacks may not go to this URL. */
  readonly checkCallbackUrl: ReceiverCheck;
}

export interface RunCreator {
  create(caller: Caller, request: NewRun, idempotency?: IdempotencyClaim<AcceptedRun>): Promise<Accepted>;
  /** Checks a new run and decides its first batch. Nothing is written before it is committed. */
  prepare(caller: Caller, request: NewRun, given?: GivenRun): Promise<PreparedRun>;
  /** Writes a run whose record is complete, begun if there is room. */
  write(plan: Plan, record: CreationRecord, conditions: Conditions): Promise<CommitResult>;
}

/** What a run that something started is known by. */
export interface GivenRun {
  readonly runId: string;
  readonly source: RunSource;
}

export interface PreparedRun {
  readonly runId: string;
  /** Names the write: the version of the documents that it brings. */
  readonly batchId: string;
  /** As it is once it is written; a short run is over by then. */
  readonly status: RunStatus;
  /** Inputs that the workflow does not declare; absent when there are none. */
  readonly ignoredInputs?: readonly string[];
  /** Writes the run with what belongs to it, and hands it over. */
  commit(along: Pick<RunUnit, 'idempotency' | 'audit' | 'documents'>): Promise<CommitResult>;
}

/** What must be so when the run is written. */
type Conditions = Pick<NonNullable<RunUnit['create']>, 'exclusiveScope' | 'whileOpen'> &
  Pick<RunUnit, 'whileHeld'>;

type Writable<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] };

interface Draft {
  readonly unit: RunUnit;
  /** Present when the run was begun with its creation. */
  readonly begun?: { readonly run: LiveRun; readonly step: Step; readonly holder: string };
}

const SCOPE_RETRY_SECONDS = 5;

export function createRunCreator(dependencies: CreateRunDependencies): RunCreator {
  const { store, plans, committer, dispatcher, limits, clock } = dependencies;

  async function prepare(caller: Caller, request: NewRun, given?: GivenRun): Promise<PreparedRun> {
    const engineVersion = engineVersionFor(caller, request.forceEngineVersion);
    const workflow = await findWorkflow(store, caller, request);
    const plan = await plans.get(workflow.digest, caller.tenant);
    checkNewRun(caller, request, plan, dependencies);
    checkCallback(request, dependencies.checkCallbackUrl);

    const record = newRecordOf(caller, request, workflow, {
      runId: given?.runId ?? dependencies.newRunId(),
      createdAt: clock.now(),
      engineVersion,
      limits: effectiveLimits(request, plan, limits),
      ...(given !== undefined && { source: given.source }),
    });
    const { exclusiveScope } = request;
    const ignoredInputs = undeclaredInputs(request.inputs, plan);
    const draft = beginOrQueue(plan, record, { exclusiveScope });
    return {
      runId: record.runId,
      batchId: draft.unit.batchId,
      status: draft.unit.head.status,
      ...(ignoredInputs && { ignoredInputs }),
      commit: (along) => {
        const act = { at: record.createdAt, action: 'run.create', target: record.runId };
        const audit = [...(along.audit ?? []), ...(dependencies.auditRuns ? [auditOf(caller, act)] : [])];
        return commit({ ...draft, unit: { ...draft.unit, ...along, ...(audit.length > 0 && { audit }) } });
      },
    };
  }

  async function create(caller: Caller, request: NewRun, remember: Remember<AcceptedRun>): Promise<Accepted> {
    const run = await prepare(caller, request);
    const { runId, ignoredInputs } = run;
    const answer = {
      runId,
      status: acceptedStatus(run.status),
      ...(ignoredInputs && { ignoredInputs }),
    };
    const result = await run.commit(remember === REMEMBER_NOTHING ? {} : remember.answer(answer));
    if (result.state === 'committed') return { replayed: false, ...answer };
    if (result.state === 'refused' && result.reason === 'scope_active') throw scopeActive(result.activeRunId);
    throw writeFailure(result);
  }

  async function write(plan: Plan, record: CreationRecord, conditions: Conditions): Promise<CommitResult> {
    return await commit(beginOrQueue(plan, record, conditions));
  }

  async function commit(draft: Draft): Promise<CommitResult> {
    const result = await committer.submit(draft.unit);
    if (result.state === 'committed') handOver(draft);
    // If the write turns out to be durable after all, the run is ours and must not lie still.
    else if (result.state === 'unknown') dispatcher.recover(draft.unit);
    return result;
  }

  function beginOrQueue(plan: Plan, record: CreationRecord, conditions: Conditions): Draft {
    const { exclusiveScope, whileOpen, whileHeld } = conditions;
    const create: Writable<NonNullable<RunUnit['create']>> = { record, exclusiveScope };
    if (whileOpen !== undefined) create.whileOpen = whileOpen;
    const holder = dependencies.lease.holder();
    if (holder === undefined || !dispatcher.hasRoomFor(record)) {
      const unit: RunUnit = {
        kind: 'run',
        batchId: randomId(dependencies.random),
        tenant: record.tenant,
        runId: record.runId,
        create,
        epoch: 0,
        expectedSeq: 0,
        events: [],
        head: { status: 'pending', wakeAt: 0 },
        ...(whileHeld !== undefined && { whileHeld }),
      };
      return { unit };
    }
    create.holder = holder;
    const run = openRun(plan, record, initialState(record, plan), dependencies.capabilities);
    const step = decideBatch(dependencies, run, { type: 'start' });
    const isIdle = !step.more && step.effects.length === 0 && step.children.length === 0;
    const release = isIdle && mayPark(dependencies, run);
    const begin = { epoch: 1, expectedSeq: 0, step, release, checkpointSeq: 0, create };
    const unit = batchUnit(dependencies, run, begin);
    const begun = { run, step, holder };
    return { unit: whileHeld === undefined ? unit : { ...unit, whileHeld }, begun };
  }

  function handOver({ unit, begun }: Draft): void {
    for (const { runId } of unit.notify ?? []) dispatcher.poke(runId);
    if (begun === undefined) return dispatcher.pending(unit.runId, unit.tenant);
    if (isTerminalStatus(unit.head.status)) {
      return dependencies.finished.put(begun.run.record, unit.head.status, unit.events);
    }
    if (unit.release === true) {
      if (unit.head.wakeAt !== null) dispatcher.wake(unit.head.wakeAt);
      return;
    }
    dispatcher.adopt({
      run: begun.run,
      holder: begun.holder,
      epoch: 1,
      checkpointSeq: unit.checkpoint?.seq ?? 0,
      opening: [],
      committed: begun.step,
    });
  }

  return {
    create: (caller, request, claim) =>
      claim === undefined
        ? create(caller, request, REMEMBER_NOTHING)
        : dependencies.idempotency.once(caller, claim, (remember) => create(caller, request, remember)),
    prepare,
    write,
  };
}

async function findWorkflow(
  store: Pick<Store, 'readWorkflow'>,
  caller: Caller,
  request: NewRun,
): Promise<WorkflowRow> {
  const version = request.configurable['weft.workflowVersion'];
  if (version !== undefined && typeof version !== 'string') {
    throw new HostError('validation_error', 'configurable["weft.workflowVersion"] must be a string.', {
      field: 'configurable.weft.workflowVersion',
    });
  }
  const found = await store.readWorkflow(caller.tenant, request.workflowId, version);
  if (found !== undefined) return found;
  const message =
    version === undefined
      ? 'No workflow has this id. Register it first, or correct workflowId.'
      : 'No workflow has this id and version. Register it first, or correct one of the two.';
  throw new HostError('not_found', message, { field: 'workflowId' });
}

function newRecordOf(
  caller: Caller,
  request: NewRun,
  workflow: WorkflowRow,
  fixed: Pick<CreationRecord, 'runId' | 'createdAt' | 'engineVersion' | 'limits' | 'source'>,
): CreationRecord {
  const { scopeId, callbackUrl, traceparent } = request;
  const record: Writable<CreationRecord> = {
    runId: fixed.runId,
    tenant: caller.tenant,
    workflowId: workflow.id,
    workflowVersion: workflow.version,
    definitionDigest: workflow.digest,
    createdAt: fixed.createdAt,
    principal: caller.principal,
    inputs: request.inputs,
    configurable: request.configurable,
    tags: request.tags,
    metadata: request.metadata,
    transport: 'rest',
    engineVersion: fixed.engineVersion,
    limits: fixed.limits,
  };
  if (caller.workspace !== undefined) record.workspace = caller.workspace;
  if (scopeId !== undefined) record.scopeId = scopeId;
  if (callbackUrl !== undefined) record.callbackUrl = callbackUrl;
  if (traceparent !== undefined) record.traceparent = traceparent;
  if (fixed.source !== undefined) record.source = fixed.source;
  return record;
}

/** The protocol's answer to a create knows no terminal status: a run that is over by now is reported as running. */
function acceptedStatus(status: RunStatus): RunStatus {
  return isTerminalStatus(status) ? 'running' : status;
}

function scopeActive(activeRunId: string): HostError {
  return new HostError(
    'run_already_active',
    'A run of this scopeId is open. Wait for it to end, or cancel it.',
    { activeRunId, activeHost: 'cloud', retryAfter: SCOPE_RETRY_SECONDS },
    { retryAfter: SCOPE_RETRY_SECONDS },
  );
}
