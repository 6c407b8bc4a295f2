import { isJsonObject, type Json, type RunSnapshot } from '@weft/protocol';
import { isTerminalStatus } from '../../model/run-state.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Documents, EnqueuedRow, OutboxRow, RunLog, RunRow } from '../../ports/store.ts';
import type { TaskPushFormat } from '../../ports/task-pushes.ts';
import { openInterrupts } from '../interrupts/interrupts.ts';
import type { Attempt, Deliver, Render } from '../outbox/delivery.ts';
import { isTaskEnd, pushRow, seqOf, wordOf } from '../outbox/rows.ts';
import { fromStored, type Sealing } from '../outbox/sealing.ts';
import { snapshotOf } from '../runs/snapshot-of.ts';
import type { RunStates } from '../runs/states.ts';
import {
  listPushes,
  openPush,
  pushOwner,
  pushPlace,
  type PushSecrets,
  type StoredPush,
} from './stored-push.ts';

/**
 * Tells agents of other hosts how their tasks stand. A change of a task's state is a row of the task's lane; a configuration that is set is
 * one too. When its turn comes, it becomes a row for each receiver, in that receiver's lane:
 *
 *   state event ──┐                            ┌──► receiver A, in order
 *                 ├──► lane of the task ──────►┤
 *   set ──────────┘    one at a time           └──► receiver B, in order
 *
 * G-5. A receiver gets the task as it stood when its configuration had its turn, and every change after that: each at least once, in
 *      order, whichever process wrote them. Receivers of one task do not wait for each other.
 */
export interface TellTaskDependencies {
  readonly store: RunLog & Documents;
  readonly clock: Clock;
  readonly states: Pick<RunStates, 'upTo'>;
  readonly limits: Pick<HostLimits, 'maxTaskPushes'>;
  readonly format: TaskPushFormat;
  readonly signingSecret: (tenant: string) => Promise<string>;
  readonly sealing?: Sealing | undefined;
}

/** A row of a task's lane: sends nothing, and says which rows take its place. */
export function createTellTask({ store, clock, limits }: TellTaskDependencies): Deliver {
  /** The first message covers all that has happened: changes in it whose turn is still to come are not sent again. */
  async function attach(run: RunRow, pushId: string): Promise<Attempt> {
    const { tenant, runId } = run.record;
    const place = pushPlace(tenant, runId, pushId);
    const document = await store.readDocument(place);
    if (document === undefined || run.nextSeq === 0) return { state: 'withdrawn' };
    const push = { ...(JSON.parse(document.body) as StoredPush), since: run.nextSeq };
    const at = clock.now();
    return {
      state: 'expanded',
      enqueue: [pushRow(run.record, push, run.nextSeq - 1, at)],
      documents: [
        { ...place, body: JSON.stringify(push), at, replaces: document.version },
        openPush(run, pushId, at),
      ],
    };
  }

  async function change(run: RunRow, seq: number): Promise<Attempt> {
    const { record } = run;
    const [event] = await store.readEvents(record.runId, seq, 1, 1);
    const pushes = await listPushes(store, record.tenant, record.runId, limits.maxTaskPushes);
    if (event === undefined || pushes.length === 0) return { state: 'withdrawn' };
    const at = clock.now();
    const told = pushes.filter(({ since }) => since !== undefined && since <= seq);
    const enqueue: EnqueuedRow[] = told.map((push) => pushRow(record, push, seq, at));
    const documents = isTaskEnd(event.type)
      ? pushes.map(({ pushId }) => openPush(run, pushId, at, true))
      : [];
    return { state: 'expanded', enqueue, documents };
  }

  return async ({ runId, body }) => {
    const run = await store.readRun(runId, undefined);
    if (run === undefined) return { state: 'withdrawn' };
    const pushId = wordOf(body, 'push');
    return pushId === undefined ? await change(run, seqOf(body)) : await attach(run, pushId);
  };
}

/** The message of a receiver's row: the whole task, as it stood right after the event. Nothing when the configuration is gone. */
export function createPushRender(dependencies: TellTaskDependencies): Render {
  const { store, sealing, format } = dependencies;

  return async ({ runId, body }: OutboxRow) => {
    const pushId = wordOf(body, 'push');
    const run = await store.readRun(runId, undefined);
    if (run === undefined || pushId === undefined) return undefined;
    const { tenant } = run.record;
    const document = await store.readDocument(pushPlace(tenant, runId, pushId));
    if (document === undefined) return undefined;
    const { url, version, secrets } = JSON.parse(document.body) as StoredPush;
    const seq = seqOf(body);
    const [event] = await store.readEvents(runId, seq, 1, 1);
    const snapshot = await snapshotAt(dependencies, run, seq);
    const outputs = event?.type === 'run.completed' ? outputsOf(event.payload) : undefined;
    return {
      tenant,
      url,
      webhookId: pushId,
      eventType: event?.type ?? '',
      ...(await format.render({ snapshot, outputs }, version)),
      headers: headersOf(
        secrets &&
          (JSON.parse(fromStored(sealing, pushOwner(tenant, runId, pushId), secrets)) as PushSecrets),
      ),
      secret: await dependencies.signingSecret(tenant),
    };
  };
}

async function snapshotAt({ states }: TellTaskDependencies, run: RunRow, seq: number): Promise<RunSnapshot> {
  const { plan, state } = await states.upTo(run.record, seq + 1);
  const snapshot = await snapshotOf(plan, run.record, state, { status: state.status });
  // A receiver answers by a message, with a key of its own.
  const [question] = isTerminalStatus(state.status) ? [] : openInterrupts(run, plan, state, () => undefined);
  return question === undefined ? snapshot : { ...snapshot, interrupt: question };
}

function outputsOf(payload: string): Json | undefined {
  const ended: unknown = JSON.parse(payload);
  return isJsonObject(ended) ? ended['outputs'] : undefined;
}

function headersOf({ token, authorization }: PushSecrets = {}): Record<string, string> {
  return {
    ...(token !== undefined && { 'x-a2a-notification-token': token }),
    ...(authorization !== undefined && { authorization }),
  };
}
