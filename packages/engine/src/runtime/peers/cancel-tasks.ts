import { recordsOf } from '../../core/steps/step-records.ts';
import { type Egress, type EgressRequest, NodeFailure } from '../../model/node-type.ts';
import { nodeKey } from '../../model/run-state.ts';
import { openTask } from '../../nodes/peers/open-task.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import type { PeerContext, Peers, PeerTaskRef } from '../../ports/peers.ts';
import type { SecretResolver } from '../../ports/secrets.ts';
import type { RunLog, RunRow } from '../../ports/store.ts';
import { openSecrets } from '../effects/open-effect-ports.ts';
import type { Attempt, Deliver } from '../outbox/delivery.ts';
import { seqOf } from '../outbox/rows.ts';
import type { RunStates } from '../runs/states.ts';

export interface CancelTasksDependencies {
  readonly store: RunLog;
  readonly states: Pick<RunStates, 'upTo'>;
  readonly peers: Peers;
  readonly egress: Egress;
  readonly resolver: SecretResolver;
  /** The tenant whose secrets are the operator's. */
  readonly operator: string;
  readonly log: Log;
}

/**
 * A node that is cancelled with its run may leave a task with a peer, which would work for no one: tells the peer.
 *
 * G-4. The cancel of a remote task leaves by the outbox, with the event that cancels the node: a crash in between loses none.
 */
export function createCancelTasks(dependencies: CancelTasksDependencies): Deliver {
  const { store, states, peers, log } = dependencies;

  async function cancel(task: PeerTaskRef, context: PeerContext): Promise<Attempt> {
    try {
      await peers.cancel(task, context);
      return { state: 'delivered' };
    } catch (error) {
      if (context.signal.aborted) return { state: 'aborted' };
      if (error instanceof NodeFailure && error.retryable) return { state: 'failed', reason: error.code };
      log('warn', { ...task, ...errorFields(error) }, 'a remote task was not cancelled');
      return { state: 'withdrawn' };
    }
  }

  /** What the node was about when it was cancelled. */
  async function taskOf({ record }: RunRow, seq: number): Promise<PeerTaskRef | undefined> {
    const [event] = await store.readEvents(record.runId, seq, 1, 1);
    const { nodeId, iteration } = (event === undefined ? {} : JSON.parse(event.payload)) as CancelledNode;
    if (nodeId === undefined) return undefined;
    const { plan, state } = await states.upTo(record, seq);
    if (plan.nodes.get(nodeId)?.type.callsPeer !== true) return undefined;
    return openTask(recordsOf(state.nodes.get(nodeKey(nodeId, iteration ?? []))?.steps ?? []));
  }

  return async ({ id, runId, body }, signal, mayLeave) => {
    const run = await store.readRun(runId, undefined);
    const task = run === undefined ? undefined : await taskOf(run, seqOf(body));
    if (run === undefined || task === undefined) return { state: 'withdrawn' };
    const { tenant } = run.record;
    return await cancel(task, contextOf(dependencies, { invocationId: id, tenant, signal, mayLeave }));
  };
}

interface CancelledNode {
  readonly nodeId?: string;
  readonly iteration?: readonly number[];
}

function contextOf(
  { egress, resolver, operator }: CancelTasksDependencies,
  {
    invocationId,
    tenant,
    signal,
    mayLeave,
  }: {
    readonly invocationId: string;
    readonly tenant: string;
    readonly signal: AbortSignal;
    readonly mayLeave: () => boolean;
  },
): PeerContext {
  const secrets = openSecrets(resolver, { tenant: operator, principal: undefined }, () => undefined);
  const guarded = (request: EgressRequest): EgressRequest => ({ ...request, mayLeave });
  return {
    signal,
    invocationId,
    egress: {
      fetch: (request) => egress.fetch(guarded(request), tenant),
      open: (request) => egress.open(guarded(request), tenant),
    },
    secrets,
    operatorSecrets: secrets,
    holdsClaim: mayLeave,
  };
}
