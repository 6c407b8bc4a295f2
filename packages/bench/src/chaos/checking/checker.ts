import { checkLog, isTerminalStatus } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { artifactsWhole, memoriesKept, nothingLeaks } from './check-stored-values.ts';
import {
  deliveredInOrder,
  deliveredOnceAtLeast,
  deliveriesValid,
  callbacksSent,
} from './check-deliveries.ts';
import { forksBegin, replaysRepeat } from './check-forks.ts';
import { annotationsKept, CLOCKS_MS, erasedRuns, importedRuns, removedRuns } from './check-retention.ts';
import { stepsOnce } from './check-steps.ts';
import { begunBeforeOutcome, performedByOne, resultsRecorded, taskInvocations } from './check-tasks.ts';
import {
  dueTimesAccountedFor,
  dueTimesStartOnce,
  overlapsOnlyWhereAllowed,
  schedulesEnd,
  startedByHand,
} from '../started/check-schedules.ts';
import {
  deliveriesStartOnce,
  forgedDeliveriesRefused,
  unfitDeliveriesKept,
} from '../started/check-triggers.ts';
import type { EventDocument, History } from './history.ts';
import {
  type Check,
  HISTORY_RULES,
  type HistoryRuleId,
  type HistoryViolation,
  type ReadRun,
  type CheckResult,
} from './rules.ts';
import { firstSeenAt, NOTED_LATE_MS, ownEvents } from './run-calls.ts';

/**
 * Reads the history of a chaos run and says what a correct host could not have done. It trusts only the responses to
 * clients, the calls the external service saw, and the final logs.
 */

export function checkHistory(history: History): CheckResult {
  const violations: HistoryViolation[] = [];
  const facts = Object.fromEntries(HISTORY_RULES.map(({ id }) => [id, 0])) as Record<HistoryRuleId, number>;
  const runs = new Map<string, ReadRun>(
    history.runs.map((run) => [
      run.runId,
      { ...run, events: run.log.map((text) => JSON.parse(text) as EventDocument) },
    ]),
  );
  const removed = new Set(history.removals.map(({ runId }) => runId));
  for (const { runId } of [...runs.values()].filter((run) => lostItsSource(run, runs, removed)))
    runs.delete(runId);
  const check: Check = {
    history,
    runs,
    removed,
    fact(rule) {
      facts[rule] += 1;
    },
    report(rule, message, runId) {
      violations.push({ rule, message, ...(runId !== undefined && { runId }) });
    },
  };
  for (const rule of RULES) rule(check);
  return { violations, facts };
}

/** Its log began in a run that was removed, or that one's did. */
function lostItsSource(
  run: ReadRun,
  runs: ReadonlyMap<string, ReadRun>,
  removed: ReadonlySet<string>,
): boolean {
  for (let fork = run.fork; fork !== undefined && fork.fromSeq > 0; ) {
    if (removed.has(fork.sourceRunId)) return true;
    fork = runs.get(fork.sourceRunId)?.fork;
  }
  return false;
}

function acknowledgedRuns({ history, removed, fact, report }: Check): void {
  const there = new Set(history.runs.map(({ runId }) => runId));
  const byTag = new Map<string, string[]>();
  for (const { runId, tags, fork, isImported } of history.runs) {
    const [tag] = tags;
    // A replay and an import have the tags of what they repeat.
    if (tag === undefined || fork?.mode === 'replay' || isImported === true) continue;
    byTag.set(tag, [...(byTag.get(tag) ?? []), runId]);
  }
  const acknowledged = new Map<string, string>();
  for (const { tag, runId } of history.created) {
    fact('C1');
    if (!there.has(runId) && !removed.has(runId))
      report('C1', `${tag} was acknowledged and is not there`, runId);
    const before = acknowledged.get(tag) ?? runId;
    if (before !== runId) report('C1', `${tag} was said to be ${before}, and ${runId}`, runId);
    acknowledged.set(tag, before);
  }
  for (const [tag, made] of byTag)
    if (made.length > 1) report('C1', `${tag} made ${made.length} runs: ${made.join(', ')}`);
}

function streamedEvents({ history, runs, removed, fact, report }: Check): void {
  for (const { runId, after, events } of history.streams) {
    if (removed.has(runId)) continue;
    const log = runs.get(runId)?.log ?? [];
    fact('C3');
    for (const [index, { sequence, text }] of events.entries()) {
      fact('C2');
      const expected = after + 1 + index;
      if (sequence !== expected) {
        report('C3', `a stream after ${after} brought ${sequence} where ${expected} comes`, runId);
        break;
      }
      if (log[sequence] !== text)
        report('C2', `event ${sequence} was streamed as ${text}, the log has ${log[sequence]}`, runId);
    }
  }
}

function legalLogs({ runs, fact, report }: Check): void {
  for (const { runId, events, status } of runs.values()) {
    fact('C4');
    const entries = events.map(({ sequence, type, timestamp, nodeId, payload }) => ({
      ...{ sequence, type, at: Date.parse(timestamp), payload: payload as JsonObject },
      ...(nodeId !== undefined && { nodeId }),
    }));
    for (const { rule, message } of checkLog(entries, { terminal: isTerminal(status) }))
      report('C4', `${rule}: ${message}`, runId);
  }
}

const REASONS = new Set(['interrupt', 'resume', 'child']);

function endedOrWaiting({ runs, fact, report }: Check): void {
  for (const { runId, status, waitingFor, events, isImported } of runs.values()) {
    fact('C5');
    const last = events.at(-1)?.type;
    if (isTerminal(status) && last !== `run.${status}`)
      report('C5', `the run is ${status}, its log ends with ${last}`, runId);
    if (!isTerminal(status) && isImported !== true && !REASONS.has(waitingFor ?? ''))
      report('C5', `the run is ${status} and waits for ${waitingFor ?? 'nothing'}`, runId);
  }
}

const OUTCOMES = new Set(['node.completed', 'node.failed', 'node.cancelled']);

function effectsAfterOutcome({ history, runs, fact, report }: Check): void {
  const visibleAt = firstSeenAt(history, runs, OUTCOMES, /^call-/);
  for (const { call, at } of history.effects) {
    fact('C6');
    const visible = visibleAt.get(call);
    if (visible !== undefined && at > visible + NOTED_LATE_MS)
      report('C6', `${call} was fired ${at - visible} ms after its outcome was visible`);
  }
}

function invocationIds({ history, fact, report }: Check): void {
  const idsByCall = new Map<string, Set<string>>();
  const callsById = new Map<string, Set<string>>();
  for (const { call, invocationId } of history.effects) {
    fact('C7');
    idsByCall.set(call, (idsByCall.get(call) ?? new Set()).add(invocationId));
    callsById.set(invocationId, (callsById.get(invocationId) ?? new Set()).add(call));
  }
  for (const [call, ids] of idsByCall)
    if (ids.size > 1) report('C7', `${call} was fired under ${ids.size} invocation ids`);
  for (const [id, calls] of callsById)
    if (calls.size > 1) report('C7', `${id} is the id of ${calls.size} effects: ${[...calls].join(', ')}`);
}

const ANSWER_EVENTS = new Set([
  ...['approval.received', 'clarification.resolved', 'conversation.exchanged', 'conversation.closed'],
  'interrupt.resolved',
]);

function answersTaken({ history, runs, fact, report }: Check): void {
  for (const { runId, marker, status } of history.answers) {
    if (status === 202 || !runs.has(runId)) continue;
    fact('C8');
    const types = (runs.get(runId)?.events ?? [])
      .filter(({ type, payload }) => ANSWER_EVENTS.has(type) && JSON.stringify(payload).includes(marker))
      .map(({ type }) => type);
    if (status !== 200) {
      if (types.length > 0) report('C8', `the answer ${marker} was refused with ${status} and taken`, runId);
      continue;
    }
    if (types.length === 0) report('C8', `the answer ${marker} was taken and is not in the log`, runId);
    if (new Set(types).size !== types.length) report('C8', `the answer ${marker} is in the log twice`, runId);
  }
}

function resolvedOnce({ history, runs, fact, report }: Check): void {
  for (const { runId, events } of runs.values()) {
    const resolved = new Set<unknown>();
    for (const { type, payload } of events) {
      if (type !== 'interrupt.resolved') continue;
      fact('C9');
      const { interruptId } = payload;
      if (resolved.has(interruptId)) report('C9', `${String(interruptId)} was resolved twice`, runId);
      resolved.add(interruptId);
    }
  }
  const taken = new Map<string, Set<string>>();
  for (const { runId, interruptId, marker, votes, status } of history.answers) {
    if (status !== 200) continue;
    const key = `${runId} ${interruptId}`;
    const markers = (taken.get(key) ?? new Set<string>()).add(marker);
    taken.set(key, markers);
    if (markers.size === votes + 1)
      report('C9', `${interruptId} takes ${votes}, and took ${[...markers].join(', ')}`, runId);
  }
}

function cancelled({ history, runs, removed, fact, report }: Check): void {
  const clocksMs = history.store === 'sqlite' ? 0 : CLOCKS_MS;
  for (const { runId, status, at } of history.cancels) {
    if (removed.has(runId) || (history.forks.some((fork) => fork.runId === runId) && !runs.has(runId)))
      continue;
    fact('C10');
    const { status: found, endedAt = '' } = runs.get(runId) ?? {};
    const fits = isTerminal(status) ? found === status : found !== undefined && isTerminal(found);
    if (!fits) report('C10', `the cancel was answered with ${status}, the run is ${String(found)}`, runId);
    // A pending cancel loses only to an end that was already being written.
    else if (found !== 'cancelled' && !isTerminal(status) && Date.parse(endedAt) > at + clocksMs)
      report(
        'C10',
        `the run continued for ${Date.parse(endedAt) - at} ms after the cancel was acknowledged`,
        runId,
      );
  }
}

function childrenAnnounced({ runs, removed, fact, report }: Check): void {
  const announced = new Set<string>();
  for (const run of runs.values()) {
    const { runId, events } = run;
    for (const { type, payload, nodeId, sequence } of ownEvents(run)) {
      if (type !== 'node.dispatched') continue;
      fact('C11');
      const child = String(payload['childRunId']);
      if (announced.has(child)) report('C11', `${child} was announced twice`, runId);
      announced.add(child);
      if (removed.has(child)) continue;
      // A run that is cancelled between the announcement and the creation never gets the child.
      const isCalledOff = events.some(
        (later) => later.type === 'node.cancelled' && later.nodeId === nodeId && later.sequence > sequence,
      );
      if (runs.get(child)?.parentRunId !== runId && !isCalledOff)
        report('C11', `${child} was announced and is not there`, runId);
    }
  }
  for (const { runId, parentRunId } of runs.values())
    if (parentRunId !== undefined && runs.has(parentRunId) && !announced.has(runId))
      report('C11', `the run is a child that ${parentRunId} does not know`, runId);
}

function unexpectedResponses({ history, fact, report }: Check): void {
  for (const { request, status, body } of history.unexpectedResponses) {
    fact('C12');
    report('C12', `${request} was answered ${status}: ${body}`);
  }
}

function processes({ history, fact, report }: Check): void {
  for (const { place, code, lastOutput } of history.exits) {
    fact('C13');
    report('C13', `process ${place} ended with ${String(code)}: ${lastOutput}`);
  }
}

function quarantinedRuns({ history, fact, report }: Check): void {
  const [crashing, quarantined] = [new Set(history.crashing), new Set(history.quarantined)];
  for (const runId of crashing) {
    fact('C27');
    if (!quarantined.has(runId)) report('C27', 'the run ends processes and is not quarantined', runId);
  }
  for (const runId of quarantined)
    if (!crashing.has(runId)) report('C27', 'the run is quarantined and did no harm', runId);
}

function isTerminal(status: string): boolean {
  return isTerminalStatus(status);
}

const RULES: readonly ((check: Check) => void)[] = [
  ...[acknowledgedRuns, streamedEvents, legalLogs, endedOrWaiting, effectsAfterOutcome, invocationIds],
  ...[answersTaken, resolvedOnce, cancelled, childrenAnnounced, unexpectedResponses, processes],
  ...[forksBegin, replaysRepeat, deliveriesValid, deliveredOnceAtLeast, deliveredInOrder, callbacksSent],
  ...[
    importedRuns,
    removedRuns,
    erasedRuns,
    annotationsKept,
    nothingLeaks,
    artifactsWhole,
    memoriesKept,
    quarantinedRuns,
    taskInvocations,
    resultsRecorded,
    begunBeforeOutcome,
    performedByOne,
    stepsOnce,
  ],
  ...[dueTimesStartOnce, dueTimesAccountedFor, overlapsOnlyWhereAllowed, schedulesEnd, startedByHand],
  ...[deliveriesStartOnce, unfitDeliveriesKept, forgedDeliveriesRefused],
];
