import type { EventDocument, History } from './history.ts';
import type { ReadRun } from './rules.ts';

/** Which effect outside an event of a log is about. */

/** As the workflow writes it into the request. */
export function callOf(tag: string, { nodeId, payload }: EventDocument): string {
  const { iteration } = payload;
  const index = Array.isArray(iteration) ? (iteration.at(-1) as number | undefined) : undefined;
  return JSON.stringify({ tag, node: nodeId, index: String(index ?? '-') });
}

/** Children work under the tag of the run at the top. */
export function tagOf(runs: ReadonlyMap<string, ReadRun>, runId: string): string | undefined {
  let run = runs.get(runId);
  for (let depth = 0; run?.parentRunId !== undefined && depth < 32; depth += 1)
    run = runs.get(run.parentRunId);
  return run?.tags[0];
}

/** By call: when the first client saw an event of these types of these nodes. */
export function firstSeenAt(
  history: History,
  runs: ReadonlyMap<string, ReadRun>,
  types: ReadonlySet<string>,
  nodes: RegExp,
): ReadonlyMap<string, number> {
  const seenAt = new Map<string, number>();
  for (const { runId, events } of history.streams) {
    const tag = tagOf(runs, runId);
    for (const { text, at } of tag === undefined ? [] : events) {
      const event = JSON.parse(text) as EventDocument;
      if (!types.has(event.type) || !nodes.test(event.nodeId ?? '')) continue;
      const call = callOf(tag ?? '', event);
      seenAt.set(call, Math.min(at, seenAt.get(call) ?? Number.POSITIVE_INFINITY));
    }
  }
  return seenAt;
}

/** What the run has done itself: a fork takes over its beginning, a replay and an import all of it. */
export function ownEvents({ events, fork, isImported }: ReadRun): readonly EventDocument[] {
  if (fork?.mode === 'replay' || isImported === true) return [];
  return events.slice(fork?.fromSeq ?? 0);
}

/** Two handlers of one process note times in the order in which they run, not in which bytes arrived. */
export const NOTED_LATE_MS = 250;
