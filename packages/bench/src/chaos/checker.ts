import { checkLog, isTerminalStatus } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import type { EventDocument, FinalRun, History } from './history.ts';

/**
 * Reads the history of a chaos run and says what a correct host could not have done. It believes nothing but what clients were
 * told, what the world outside saw, and the logs as they are in the end.
 */
export const HISTORY_RULES = [
  { id: 'C1', rule: 'An acknowledged run exists, and one request made one run.' },
  { id: 'C2', rule: 'An event that was streamed is in the log, word for word.' },
  { id: 'C3', rule: 'A stream is a contiguous piece of the log, beginning where it was asked to.' },
  { id: 'C4', rule: 'Every log is legal: no gap, one terminal event, nothing after it.' },
  { id: 'C5', rule: 'Every run has ended as its log says, or waits for a reason.' },
  { id: 'C6', rule: 'No effect is fired again after its outcome was visible.' },
  {
    id: 'C7',
    rule: 'An effect has one invocation id, however often it is fired, and shares it with no other.',
  },
  { id: 'C8', rule: 'An answer that was taken is in the log, once.' },
  { id: 'C9', rule: 'A question is resolved once, and takes no more answers than it asks for.' },
  {
    id: 'C10',
    rule: 'A run that was said to be cancelled is, and one that was said to have ended otherwise did.',
  },
  { id: 'C11', rule: 'Every child that a log announces exists, and no other.' },
  { id: 'C12', rule: 'Nobody is answered with an internal error, or refused without a way out.' },
  { id: 'C13', rule: 'No process ends by itself.' },
] as const;

export type HistoryRuleId = (typeof HISTORY_RULES)[number]['id'];

export interface HistoryViolation {
  readonly rule: HistoryRuleId;
  readonly runId?: string;
  readonly message: string;
}

/** Facts looked at, by rule. */
export type FactCounts = Readonly<Record<HistoryRuleId, number>>;

export interface Verdict {
  readonly violations: readonly HistoryViolation[];
  readonly facts: FactCounts;
}

/** Two handlers of one process note times in the order in which they run, not in which bytes arrived. */
const NOTED_LATE_MS = 250;
/** How long after it was woken a process may still send what it was about to. */
const SLEEPER_MS = 2_000;

interface ReadRun extends FinalRun {
  readonly events: readonly EventDocument[];
}

interface Check {
  readonly history: History;
  readonly runs: ReadonlyMap<string, ReadRun>;
  fact(rule: HistoryRuleId): void;
  report(rule: HistoryRuleId, message: string, runId?: string): void;
}

export function checkHistory(history: History): Verdict {
  const violations: HistoryViolation[] = [];
  const facts = Object.fromEntries(HISTORY_RULES.map(({ id }) => [id, 0])) as Record<HistoryRuleId, number>;
  const runs = new Map(
    history.runs.map((run) => [
      run.runId,
      { ...run, events: run.log.map((text) => JSON.parse(text) as EventDocument) },
    ]),
  );
  const check: Check = {
    history,
    runs,
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

function acknowledgedRuns({ history, runs, fact, report }: Check): void {
  const byTag = new Map<string, string[]>();
  for (const run of runs.values())
    for (const tag of run.tags) byTag.set(tag, [...(byTag.get(tag) ?? []), run.runId]);
  for (const { tag, runId } of history.created) {
    fact('C1');
    if (!runs.has(runId)) report('C1', `${tag} was acknowledged and is not there`, runId);
  }
  for (const [tag, made] of byTag)
    if (made.length > 1) report('C1', `${tag} made ${made.length} runs: ${made.join(', ')}`);
}

function streamedEvents({ history, runs, fact, report }: Check): void {
  for (const { runId, after, events } of history.streams) {
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
  for (const { runId, status, waitingFor, events } of runs.values()) {
    fact('C5');
    const last = events.at(-1)?.type;
    if (isTerminal(status) && last !== `run.${status}`)
      report('C5', `the run is ${status}, its log ends with ${last}`, runId);
    if (!isTerminal(status) && !REASONS.has(waitingFor ?? ''))
      report('C5', `the run is ${status} and waits for ${waitingFor ?? 'nothing'}`, runId);
  }
}

function effectsAfterOutcome({ history, runs, fact, report }: Check): void {
  const visibleAt = outcomesVisibleAt(history, runs);
  for (const { call, at } of history.effects) {
    fact('C6');
    const visible = visibleAt.get(call);
    if (visible === undefined || at <= visible + NOTED_LATE_MS) continue;
    const isLate = history.thaws.some((thaw) => thaw <= at && at - thaw <= SLEEPER_MS);
    if (!isLate) report('C6', `${call} was fired ${at - visible} ms after its outcome was visible`);
  }
}

/** By call: when the first client saw that it was over. */
function outcomesVisibleAt(
  history: History,
  runs: ReadonlyMap<string, ReadRun>,
): ReadonlyMap<string, number> {
  const visibleAt = new Map<string, number>();
  for (const { runId, events } of history.streams) {
    const tag = tagOf(runs, runId);
    for (const { text, at } of tag === undefined ? [] : events) {
      const event = JSON.parse(text) as EventDocument;
      if (event.type !== 'node.completed' || !event.nodeId?.startsWith('call-')) continue;
      const call = callOf(tag ?? '', event);
      visibleAt.set(call, Math.min(at, visibleAt.get(call) ?? Number.POSITIVE_INFINITY));
    }
  }
  return visibleAt;
}

/** As the workflow writes it into the request. */
function callOf(tag: string, { nodeId, payload }: EventDocument): string {
  const { iteration } = payload;
  const index = Array.isArray(iteration) ? (iteration.at(-1) as number | undefined) : undefined;
  return JSON.stringify({ tag, node: nodeId, index: String(index ?? '-') });
}

/** Children work under the tag of the run at the top. */
function tagOf(runs: ReadonlyMap<string, ReadRun>, runId: string): string | undefined {
  let run = runs.get(runId);
  for (let depth = 0; run?.parentRunId !== undefined && depth < 32; depth += 1)
    run = runs.get(run.parentRunId);
  return run?.tags[0];
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
    if (status !== 200) continue;
    fact('C8');
    const types = (runs.get(runId)?.events ?? [])
      .filter(({ type, payload }) => ANSWER_EVENTS.has(type) && JSON.stringify(payload).includes(marker))
      .map(({ type }) => type);
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
  for (const { runId, interruptId, marker, voices, status } of history.answers) {
    if (status !== 200) continue;
    const key = `${runId} ${interruptId}`;
    const markers = (taken.get(key) ?? new Set<string>()).add(marker);
    taken.set(key, markers);
    if (markers.size === voices + 1)
      report('C9', `${interruptId} takes ${voices}, and took ${[...markers].join(', ')}`, runId);
  }
}

function cancelled({ history, runs, fact, report }: Check): void {
  for (const { runId, status } of history.cancels) {
    fact('C10');
    const found = runs.get(runId)?.status;
    // A cancel that is still under way has lost to an end that was already being written.
    const fits = isTerminal(status) ? found === status : found !== undefined && isTerminal(found);
    if (!fits) report('C10', `the cancel was answered with ${status}, the run is ${String(found)}`, runId);
  }
}

function childrenAnnounced({ runs, fact, report }: Check): void {
  const announced = new Set<string>();
  for (const { runId, events } of runs.values()) {
    for (const { type, payload, nodeId, sequence } of events) {
      if (type !== 'node.dispatched') continue;
      fact('C11');
      const child = String(payload['childRunId']);
      if (announced.has(child)) report('C11', `${child} was announced twice`, runId);
      announced.add(child);
      // A run that is cancelled between the announcement and the creation never gets the child.
      const isCalledOff = events.some(
        (later) => later.type === 'node.cancelled' && later.nodeId === nodeId && later.sequence > sequence,
      );
      if (runs.get(child)?.parentRunId !== runId && !isCalledOff)
        report('C11', `${child} was announced and is not there`, runId);
    }
  }
  for (const { runId, parentRunId } of runs.values())
    if (parentRunId !== undefined && !announced.has(runId))
      report('C11', `the run is a child that ${parentRunId} does not know`, runId);
}

function mishaps({ history, fact, report }: Check): void {
  for (const { request, status, body } of history.mishaps) {
    fact('C12');
    report('C12', `${request} was answered ${status}: ${body}`);
  }
}

function processes({ history, fact, report }: Check): void {
  for (const { place, code, lastWords } of history.exits) {
    fact('C13');
    report('C13', `process ${place} ended with ${String(code)}: ${lastWords}`);
  }
}

function isTerminal(status: string): boolean {
  return isTerminalStatus(status);
}

const RULES: readonly ((check: Check) => void)[] = [
  ...[acknowledgedRuns, streamedEvents, legalLogs, endedOrWaiting, effectsAfterOutcome, invocationIds],
  ...[answersTaken, resolvedOnce, cancelled, childrenAnnounced, mishaps, processes],
];
