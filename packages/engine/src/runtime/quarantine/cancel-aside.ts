import { openRun } from '../../core/decide/advance.ts';
import { causeText } from '../../core/fold/overlay.ts';
import type { RunStatus } from '../../model/run-state.ts';
import { DamagedRunError } from '../../model/damaged-run-error.ts';
import type {
  Claimed,
  Inbox,
  RunLog,
  RunRow,
  RunUnit,
  StoredCommand,
  StoredEvent,
  CommandResult,
} from '../../ports/store.ts';
import { commandInput, decidedBy } from '../scheduling/actor-step.ts';
import type { Committer } from '../commits/committer.ts';
import type { Feed } from '../streams/feed.ts';
import { releaseClaim } from '../scheduling/release-claim.ts';
import { randomId } from '../runs/ids.ts';
import type { Quarantine } from './quarantine.ts';
import type { RunStates } from '../runs/states.ts';
import { batchUnit, type BatchTools, decideBatch } from '../scheduling/decide-batch.ts';

/**
 * Cancels a run that is set aside. Usually as any other run is cancelled, with its nodes and children; where its log cannot be
 * read, or deciding that ends processes, by its last event alone.
 */
export interface CancelAsideDependencies extends BatchTools {
  /** Tells of damage instead of throwing it. */
  readonly store: RunLog & Inbox;
  readonly states: RunStates;
  readonly capabilities: ReadonlySet<string>;
  readonly committer: Pick<Committer, 'submit'>;
  readonly quarantine: Pick<Quarantine, 'survives'>;
  readonly feed: Pick<Feed, 'signal'>;
  readonly onCommandResult: (commandId: string, commandResult: CommandResult) => void;
  readonly onSignals: (signals: NonNullable<RunUnit['notify']>) => void;
}

export type CancelAside = (claim: Claimed) => Promise<void>;

export function createCancelAside(dependencies: CancelAsideDependencies): CancelAside {
  const { store, states, committer, quarantine } = dependencies;

  /** Undefined when it cannot be read. */
  async function waitingCancel(runId: string): Promise<StoredCommand | undefined> {
    try {
      return (await store.readInbox(runId)).find(({ command }) => command.type === 'cancel');
    } catch (error) {
      if (error instanceof DamagedRunError) return undefined;
      throw error;
    }
  }

  /** Undefined when the log cannot be read, or the decision must not be made here. */
  async function byDecision(row: RunRow, epoch: number, cancel: StoredCommand): Promise<RunUnit | undefined> {
    const input = commandInput(cancel, []);
    if (row.isDamaged === true || !(await quarantine.survives(row.record.runId, [input]))) return undefined;
    try {
      const { plan, state, checkpointSeq } = await states.upTo(row.record, row.nextSeq);
      const run = openRun(plan, row.record, state, dependencies.capabilities);
      const step = decideBatch(dependencies, run, input);
      const write = { epoch, expectedSeq: row.nextSeq, step, release: true, checkpointSeq };
      return batchUnit(dependencies, run, { ...write, decided: decidedBy(input, step) });
    } catch (error) {
      if (error instanceof DamagedRunError) return undefined;
      throw error;
    }
  }

  /** Without the cancel itself where that cannot be read: then no result stands under its id, but the run has ended. */
  function byLastEvent(row: RunRow, epoch: number, cancel: StoredCommand | undefined): RunUnit {
    const { head, nextSeq, record } = row;
    const at = dependencies.clock.now();
    const reason = cancel?.command.type === 'cancel' ? cancel.command.reason : undefined;
    const event: StoredEvent = {
      seq: nextSeq,
      type: 'run.cancelled',
      at,
      payload: JSON.stringify({ ...(reason !== undefined && { reason }) }),
      overlay: causeText('cancel'),
    };
    const status: RunStatus = 'cancelled';
    const { parent, runId, tenant } = record;
    return {
      kind: 'run',
      batchId: randomId(dependencies.random),
      tenant,
      runId,
      epoch,
      expectedSeq: nextSeq,
      events: [event],
      head: {
        status,
        wakeAt: null,
        endedAt: at,
        ...(head.startedAt !== undefined && { startedAt: head.startedAt }),
      },
      ...(cancel !== undefined && {
        consume: [{ commandId: cancel.commandId, commandResult: { applied: true, status, at } }],
      }),
      release: true,
      ...(parent !== undefined && {
        notify: [
          {
            runId: parent.runId,
            commandId: `child:${runId}:${nextSeq + 1}`,
            command: { type: 'child', nodeKey: parent.nodeKey, childRunId: runId, status },
          },
        ],
      }),
    };
  }

  return async ({ runId, epoch }) => {
    const row = await store.readRun(runId, undefined);
    if (row === undefined || row.epoch !== epoch) return;
    if (!row.pendingCommands.includes('cancel')) {
      await releaseClaim(dependencies, runId, epoch);
      return;
    }
    const cancel = await waitingCancel(runId);
    const decided = cancel && (await byDecision(row, epoch, cancel));
    const unit = decided ?? byLastEvent(row, epoch, cancel);
    const result = await committer.submit(unit);
    if (result.state !== 'committed') return;
    dependencies.feed.signal(runId);
    for (const { commandId, commandResult } of unit.consume ?? [])
      dependencies.onCommandResult(commandId, commandResult);
    if (unit.notify !== undefined) dependencies.onSignals(unit.notify);
  };
}
