import { HostError, type Json } from '@weft/protocol';
import { heapBytesOf } from '../../core/json/heap-bytes.ts';
import type { Plan } from '../../core/compile/plan.ts';
import { isTerminalStatus, type RunState, type RunStatus } from '../../model/run-state.ts';
import type { Caller, CommandAnswer, CommandOutcome, IdempotencyClaim, Runs } from '../../host/host.ts';
import type {
  Command,
  CommandUnit,
  IdempotencyRecord,
  RunRow,
  Store,
  CommandResult,
} from '../../ports/store.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import type { Dispatcher } from '../scheduling/dispatcher.ts';
import type { Idempotency, Remember } from '../commits/idempotency.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { refuseImported } from '../bundles/import.ts';
import { lateAnswer } from '../interrupts/interrupts.ts';
import type { HostLimits } from '../../host/limits.ts';
import { shownStatus } from '../runs/run-status.ts';
import type { CommandResults } from './command-results.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * Commands: durable in the inbox first, then decided by the holder of the run. The answer waits a little for the result, so
 * that a person who cancels usually reads `cancelled`; but it never depends on it.
 *
 * W-37. Once a command is in the inbox, its sender gets the result recorded under the command's id, or learns that there is
 *       none yet. Only for a run that ended without one does it get how the run ended: then the command was not applied.
 * W-38. A repeat with the same key asks for the first command, in whichever process that arrived and however far it is.
 */
export interface CommandDependencies {
  readonly store: Pick<Store, 'readRun' | 'readCommand'>;
  readonly committer: Committer;
  readonly dispatcher: Dispatcher;
  readonly commandResults: CommandResults;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly limits: HostLimits;
  readonly idempotency: Idempotency;
  readonly withState: <Result>(row: RunRow, use: (plan: Plan, state: RunState) => Result) => Promise<Result>;
}

const ASK_EVERY_MS = 100;

/** Undefined: not decided yet. */
type Decided = CommandResult | 'gone' | undefined;

export function createCommands(dependencies: CommandDependencies): Runs['command'] {
  const { store, committer, dispatcher, clock, limits } = dependencies;

  async function command(
    caller: Caller,
    runId: string,
    asked: Command,
    claim?: IdempotencyClaim<CommandOutcome>,
  ): Promise<CommandAnswer | undefined> {
    const row = await store.readRun(runId, caller.tenant);
    if (row === undefined) return undefined;
    refuseImported(row);
    return await dependencies.idempotency.once(
      caller,
      claim,
      (remember) => send(caller, row, asked, remember),
      (response, render) => repeat(caller, response, asked, render),
    );
  }

  async function send(
    caller: Caller,
    row: RunRow,
    asked: Command,
    remember: Remember<CommandOutcome>,
  ): Promise<CommandAnswer | undefined> {
    const { runId } = row.record;
    if (isTerminalStatus(row.head.status)) return await over(row, asked);

    const unit = newUnit(caller, runId, asked, remember);
    const result = await committer.submit(unit);
    if (result.state === 'committed') return accepted(caller, runId, unit.commandId, asked);
    if (result.state === 'refused') {
      if (result.reason === 'run_missing') return undefined;
      if (result.reason === 'run_terminal')
        return await over((await store.readRun(runId, undefined)) ?? row, asked);
      if (result.reason === 'inbox_full') throw inboxFull(unit.inboxLimit);
    }
    throw writeFailure(result);
  }

  async function accepted(
    caller: Caller,
    runId: string,
    commandId: string,
    asked: Command,
  ): Promise<CommandAnswer | undefined> {
    const commandResult = await commandResultOf(runId, commandId, asked);
    if (commandResult === 'gone') return gone(caller, runId);
    return {
      replayed: false,
      commandResult,
      status: commandResult?.status ?? (await statusOf(runId, asked)),
    };
  }

  /** The run has ended; an answer to one of its questions gets what became of that question. */
  async function over(row: RunRow, asked: Command): Promise<CommandAnswer> {
    return { replayed: false, commandResult: await overCommandResult(row, asked), status: row.head.status };
  }

  async function overCommandResult(row: RunRow, asked: Command): Promise<CommandResult> {
    const { status } = row.head;
    if (asked.type !== 'resolve') return { applied: false, status };
    return dependencies.withState(row, (_plan, state) => lateAnswer(state, asked));
  }

  function newUnit(
    caller: Caller,
    runId: string,
    asked: Command,
    remember: Remember<CommandOutcome>,
  ): CommandUnit {
    const commandId = randomId(dependencies.random);
    const now = clock.now();
    return {
      kind: 'command',
      batchId: randomId(dependencies.random),
      tenant: caller.tenant,
      runId,
      commandId,
      command: asked,
      inboxLimit: inboxLimitFor(asked, limits.maxInbox),
      audit: [auditOf(caller, { at: now, action: `run.${asked.type}`, target: runId })],
      ...remember.command({ runId, commandId }),
    };
  }

  /** A repeat gets what the first one got, or will get. */
  async function repeat(
    caller: Caller,
    response: IdempotencyRecord['response'],
    asked: Command,
    render: IdempotencyClaim<CommandOutcome>['render'],
  ): Promise<CommandAnswer | undefined> {
    if ('body' in response) return { replayed: true, ...response };
    const commandResult = await commandResultOf(response.runId, response.commandId, asked);
    if (commandResult === 'gone') return gone(caller, response.runId);
    const status = commandResult?.status ?? (await statusOf(response.runId, asked));
    return { replayed: true, ...render({ commandResult, status }) };
  }

  /** Waits for the result: notified when the run is held here, polled when it is held elsewhere. */
  async function commandResultOf(runId: string, commandId: string, asked: Command): Promise<Decided> {
    let announce: (commandResult: CommandResult) => void = () => undefined;
    const announced = new Promise<CommandResult>((resolve) => {
      announce = resolve;
    });
    const forget = dependencies.commandResults.expect(commandId, announce);
    try {
      dispatcher.poke(runId);
      const until = clock.monotonic() + limits.commandWaitMs;
      for (;;) {
        const left = until - clock.monotonic();
        const commandResult = await within(announced, Math.min(ASK_EVERY_MS, Math.max(left, 0)));
        if (commandResult !== undefined) return commandResult;
        const stored = await storedCommandResult(runId, commandId, asked);
        if (stored !== undefined || left <= 0) return stored;
      }
    } finally {
      forget();
    }
  }

  /** A run that ended before it came to the command has decided it too: nothing was applied. */
  async function storedCommandResult(runId: string, commandId: string, asked: Command): Promise<Decided> {
    // In this order: a result that ended the run was durable before the row could say so.
    const row = await store.readRun(runId, undefined);
    const stored = await store.readCommand(runId, commandId);
    // It was accepted, so it went with its run: what the result was, no one knows any more.
    if (stored === undefined) return 'gone';
    if (stored.commandResult !== undefined) return stored.commandResult;
    return row !== undefined && isTerminalStatus(row.head.status) ? overCommandResult(row, asked) : undefined;
  }

  /** The run was removed after it had taken the command. Throws the error that its own tenant gets for such a run. */
  async function gone({ tenant }: Caller, runId: string): Promise<undefined> {
    await store.readRun(runId, tenant);
    return undefined;
  }

  async function statusOf(runId: string, asked: Command): Promise<RunStatus | 'cancelling'> {
    const row = await store.readRun(runId, undefined);
    if (row === undefined) return asked.type === 'cancel' ? 'cancelling' : 'running';
    return shownStatus(row.head.status, row.pendingCommands);
  }

  return command;
}

/** A new holder loads the whole inbox, so its bytes are limited too: fewer commands fit, the larger they are. */
const INBOX_BYTES = 4 * 1024 * 1024;

function inboxLimitFor(command: Command, most: number): number {
  const room = Math.floor(INBOX_BYTES / heapBytesOf(command as unknown as Json));
  return Math.max(Math.min(most, room), 1);
}

function inboxFull(limit: number): HostError {
  return new HostError(
    'rate_limited',
    `The run has ${limit} commands waiting, the most it may have for one of this size. Wait until some are carried out.`,
    { limit, scope: 'run', retryAfterMs: 1_000 },
    { retryAfter: 1 },
  );
}

function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
