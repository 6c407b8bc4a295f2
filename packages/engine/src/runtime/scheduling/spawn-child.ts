import { HostError } from '@weft/protocol';
import type { Plan } from '../../core/compile/plan.ts';
import type { CreationRecord, NodeError } from '../../model/run-state.ts';
import type { ChildRequest } from '../../core/decide/step.ts';
import type { RunUnit, Store, WorkflowRow } from '../../ports/store.ts';
import { pause } from '../../ports/clock.ts';
import type { CommitResult } from '../commits/committer.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import { checkInputs, effectiveLimits } from '../runs/new-run-checks.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Plans } from '../workflows/plans.ts';

/**
 * Creates child runs. The parent's log has fixed the child's id before this is called, so calling it again, here or in the
 * process that takes over, finds the child that is there.
 */
export type SpawnChild = (parent: CreationRecord, request: SpawnRequest) => Promise<NodeError | undefined>;

export interface SpawnRequest extends ChildRequest {
  /** Trace context of the node that starts the child. */
  readonly traceparent: string;
  /** Of the claim on the parent under which the child is created. */
  readonly epoch: number;
  /** False when the requesting process no longer holds the parent: its new holder asks again. */
  isAwaited(): boolean;
}

export interface SpawnDependencies {
  readonly store: Pick<Store, 'readRun' | 'readWorkflow'>;
  readonly plans: Plans;
  readonly limits: HostLimits;
  readonly log: Log;
  readonly now: () => number;
  /** Writes the run, begun if there is room, and hands it over. */
  readonly create: (
    plan: Plan,
    record: CreationRecord,
    conditions: Pick<NonNullable<RunUnit['create']>, 'exclusiveScope' | 'whileOpen'> &
      Pick<RunUnit, 'whileHeld'>,
  ) => Promise<CommitResult>;
}

/** Runs above a child; more is taken for a mistake. */
const MAX_DEPTH = 32;
/** An outage of the store is no reason to fail a run: the child is created when the store is back. */
const RETRY_MS = [100, 500, 1_000];
const LATER_MS = 5_000;
const MAX_ATTEMPTS = 120;
/** Options of the parent that mean the same for its children. The others are about the parent alone. */
const INHERITED = [
  'budget',
  'model',
  'temperature',
  'maxTokens',
  'mockProvider',
  'ai.provider',
  'ai.model',
  'ai.credentialRef',
  'escalationThreshold',
  'reasoningVerbosity',
];

export function createSpawnChild(dependencies: SpawnDependencies): SpawnChild {
  const { store, plans, limits } = dependencies;

  async function attempt(
    parent: CreationRecord,
    request: SpawnRequest,
  ): Promise<'again' | NodeError | undefined> {
    if ((await store.readRun(request.childRunId, undefined)) !== undefined) return undefined;
    const { workflowId } = request.spec;
    const ancestors = [...(parent.parent?.ancestors ?? []), parent.workflowId];
    const refusal = lineageProblem(ancestors, workflowId);
    if (refusal !== undefined) return refusal;
    const workflow = await store.readWorkflow(parent.tenant, workflowId, undefined);
    if (workflow === undefined) return unknownWorkflow(workflowId);
    const plan = await plans.get(workflow.digest, parent.tenant);
    try {
      checkInputs(request.spec.inputs, plan);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      return {
        code: 'child_input_invalid',
        message: `Workflow "${workflowId}" does not take these inputs: ${error.message}`,
        details: { workflowId },
      };
    }
    const record = childRecord(parent, request, ancestors, workflow, plan);
    const { propagateCancellation } = request.spec;
    const result = await dependencies.create(plan, record, {
      exclusiveScope: false,
      whileHeld: { runId: parent.runId, epoch: request.epoch },
      ...(propagateCancellation && { whileOpen: parent.runId }),
    });
    // Refused because it exists, or because the parent has ended or has another holder by now: nothing is left to do here.
    return result.state === 'committed' || (result.state === 'refused' && result.reason !== 'store_full')
      ? undefined
      : 'again';
  }

  function childRecord(
    parent: CreationRecord,
    { childRunId, nodeId, key, spec, sensitiveInputs, traceparent }: SpawnRequest,
    ancestors: readonly string[],
    workflow: WorkflowRow,
    plan: Plan,
  ): CreationRecord {
    const configurable = Object.fromEntries(
      INHERITED.flatMap((name) => {
        const value = parent.configurable[name];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    return {
      runId: childRunId,
      tenant: parent.tenant,
      workflowId: workflow.id,
      workflowVersion: workflow.version,
      definitionDigest: workflow.digest,
      createdAt: dependencies.now(),
      inputs: spec.inputs,
      ...(sensitiveInputs !== undefined && { sensitiveInputs }),
      configurable,
      tags: [],
      metadata: {},
      transport: parent.transport,
      engineVersion: parent.engineVersion,
      limits: effectiveLimits({ configurable }, plan, limits),
      parent: {
        runId: parent.runId,
        nodeId,
        nodeKey: key,
        ancestors,
        collect: [...new Set(Object.values(spec.outputMapping))].sort(),
      },
      ...(parent.principal !== undefined && { principal: parent.principal }),
      ...(parent.workspace !== undefined && { workspace: parent.workspace }),
      ...(parent.scopeId !== undefined && { scopeId: parent.scopeId }),
      ...(parent.callbackUrl !== undefined && { callbackUrl: parent.callbackUrl }),
      traceparent,
    };
  }

  return async (parent, request) => {
    for (let failures = 0; failures < MAX_ATTEMPTS && request.isAwaited(); failures += 1) {
      try {
        const outcome = await attempt(parent, request);
        if (outcome !== 'again') return outcome;
      } catch (error) {
        dependencies.log(
          'warn',
          { runId: parent.runId, childRunId: request.childRunId, ...errorFields(error) },
          'a child run could not be created yet',
        );
      }
      await pause(RETRY_MS[failures] ?? LATER_MS);
    }
    return {
      code: 'child_missing',
      message: 'The child run could not be created: the store did not take it. Try again later.',
      retryable: true,
      details: { childRunId: request.childRunId },
    };
  };
}

function lineageProblem(ancestors: readonly string[], workflowId: string): NodeError | undefined {
  if (ancestors.includes(workflowId)) {
    return {
      code: 'child_recursion',
      message: `Workflow "${workflowId}" is already running above this one; a workflow cannot be its own descendant.`,
      details: { workflowId, ancestors: [...ancestors] },
    };
  }
  if (ancestors.length < MAX_DEPTH) return undefined;
  return {
    code: 'child_depth_exceeded',
    message: `Child runs may be nested ${MAX_DEPTH} deep.`,
    details: { limit: MAX_DEPTH, observed: ancestors.length + 1 },
  };
}

function unknownWorkflow(workflowId: string): NodeError {
  return {
    code: 'unknown_child_workflow',
    message: `No workflow has the id "${workflowId}". Register it, or correct config.workflowId.`,
    details: { workflowId },
  };
}
