import type { History, Performance } from './history.ts';
import type { Check } from './rules.ts';
import { callOf, firstSeenAt, NOTED_LATE_MS, ownEvents, tagOf } from './run-calls.ts';

/** What workers did, as their code has written it down. */

const TASKS = /^(task|once)-/;
const COMPLETED = new Set(['node.completed']);

/** The result of a performance that was overtaken by a later one is stale. */
export function resultsRecorded({ history, runs, fact, report }: Check): void {
  const byCall = performancesByCall(history);
  for (const run of runs.values()) {
    const tag = tagOf(runs, run.runId);
    for (const event of tag === undefined ? [] : ownEvents(run)) {
      if (event.type !== 'node.completed' || !TASKS.test(event.nodeId ?? '')) continue;
      fact('C28');
      const call = callOf(tag ?? '', event);
      const outputs = event.payload['outputs'] as { performance?: string; call?: string } | undefined;
      const last = byCall.get(call)?.at(-1)?.performance;
      if (outputs?.call !== call || outputs.performance !== last)
        report('C28', `${call} has the outputs ${JSON.stringify(outputs)}; last was ${last}`, run.runId);
    }
  }
}

export function begunBeforeOutcome({ history, runs, fact, report }: Check): void {
  const seenAt = firstSeenAt(history, runs, COMPLETED, TASKS);
  for (const { call, performance, begunAt } of history.performances) {
    fact('C29');
    const seen = seenAt.get(call);
    if (seen !== undefined && begunAt > seen + NOTED_LATE_MS)
      report('C29', `${performance} of ${call} began ${begunAt - seen} ms after its outcome was visible`);
  }
}

export function performedByOne({ history, fact, report }: Check): void {
  for (const [call, performances] of performancesByCall(history)) {
    if (call.includes('"node":"once-')) {
      fact('C31');
      if (performances.length > 1) report('C31', `${call} was performed ${performances.length} times`);
    }
    for (const [index, next] of performances.entries()) {
      fact('C30');
      const before = performances.slice(0, index).filter(({ attempt }) => attempt === next.attempt);
      for (const each of before) {
        const overlapMs = endOf(each, history) - next.begunAt;
        if (overlapMs > NOTED_LATE_MS)
          report(
            'C30',
            `${next.performance} of ${call} began ${overlapMs} ms before ${each.performance} ended`,
          );
      }
    }
  }
}

export function taskInvocations({ history, fact, report }: Check): void {
  for (const [call, performances] of performancesByCall(history)) {
    fact('C7');
    const ids = new Set(performances.map(({ invocationId }) => invocationId));
    if (ids.size > 1) report('C7', `${call} was performed under ${ids.size} invocation ids`);
  }
}

/** A process that was killed or frozen performs nothing from then on; what a frozen one does first afterwards is to stop. */
function endOf({ pid, begunAt, endedAt = Number.POSITIVE_INFINITY }: Performance, history: History): number {
  const outages = outagesOf(pid, history);
  const outage = outages.find(
    ({ from, to }) => begunAt <= to && endedAt >= from && endedAt <= to + NOTED_LATE_MS,
  );
  const killedFrom = outages.find(({ to }) => to === Number.MAX_SAFE_INTEGER)?.from;
  return Math.min(endedAt, outage?.from ?? endedAt, killedFrom ?? endedAt);
}

/** Where a process wakes for a moment that is too short to stop anything, one outage is continued by the next. */
function outagesOf(pid: number, { outages }: History): { readonly from: number; readonly to: number }[] {
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of outages.filter((each) => each.pid === pid).toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to + NOTED_LATE_MS) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** In the order in which they began. */
function performancesByCall({ performances }: History): Map<string, Performance[]> {
  const byCall = new Map<string, Performance[]>();
  for (const each of performances.toSorted((a, b) => a.begunAt - b.begunAt))
    byCall.set(each.call, [...(byCall.get(each.call) ?? []), each]);
  return byCall;
}
