import type { Check, ReadRun } from './rules.ts';

/** Forks: how they begin, and what a replay may say. */

export function forksBegin({ history, runs, removed, fact, report }: Check): void {
  const acknowledged = new Set(history.forks.map(({ runId }) => runId));
  const there = new Set(history.runs.map(({ runId }) => runId));
  for (const { runId } of history.forks)
    if (!there.has(runId) && !removed.has(runId))
      report('C14', 'a fork was acknowledged and is not there', runId);
  for (const { runId, fork } of history.runs)
    if (fork !== undefined && !acknowledged.has(runId))
      report('C14', 'the run is a fork that was never acknowledged to a client', runId);
  for (const { runId, fork, log } of runs.values()) {
    const source = fork === undefined ? undefined : runs.get(fork.sourceRunId);
    if (fork === undefined || source === undefined) continue;
    fact('C14');
    const family = familyOf(runId, runs);
    for (let seq = 0; seq < fork.fromSeq; seq += 1) {
      const [is, was] = [unnamed(log[seq], family), unnamed(source.log[seq], family)];
      if (is === was) continue;
      report('C14', `event ${seq} is ${is}, the source has ${was}`, runId);
      break;
    }
  }
}

export function replaysRepeat({ history, runs, fact, report }: Check): void {
  // A person who gets in between, while a replay waits to be taken over, makes it go another way, and it says so.
  const answered = [...history.answers, ...history.cancels].map(({ runId }) => runId);
  const touched = new Set([...answered, ...history.unanswered]);
  for (const { runId, sourceRunId, mode, sourceEvents, sourceEnded } of history.forks) {
    const [replay, source] = [runs.get(runId), runs.get(sourceRunId)];
    if (mode !== 'replay' || replay === undefined || source === undefined) continue;
    if (touched.has(runId)) continue;
    fact('C15');
    const family = familyOf(runId, runs);
    const all = sourceEnded ? Math.max(source.events.length, replay.events.length) : sourceEvents;
    const length = Math.min(all, cancelledAt(source, replay.fork?.fromSeq ?? 0));
    for (let seq = 0; seq < length; seq += 1) {
      const [is, was] = [withoutTimes(replay, seq), withoutTimes(source, seq)].map((text) =>
        unnamed(text, family),
      );
      if (is === was) continue;
      report('C15', `event ${seq} is ${is}, the source has ${was}`, runId);
      break;
    }
  }
}

/** A cancel is not replayed, unless the fork begins inside it or after it: where the source was cancelled, its replay goes another way. */
function cancelledAt({ events }: ReadRun, fromSeq: number): number {
  const at = events.findIndex(
    ({ type, payload }) => type === 'run.cancelled' || payload['reason'] === 'run-cancelled',
  );
  if (at === -1) return Number.POSITIVE_INFINITY;
  // A replay that was cancelled says first that it goes another way than its own source.
  const begin = events[at - 1]?.type === 'replay.diverged' ? at - 1 : at;
  return begin < fromSeq ? Number.POSITIVE_INFINITY : begin;
}

/** Without times and ids. */
function withoutTimes({ events }: ReadRun, seq: number): string | undefined {
  const event = events[seq];
  return event && JSON.stringify([event.type, event.nodeId, event.payload]);
}

/** The run, the one it was forked from, and so on. */
function familyOf(runId: string, runs: ReadonlyMap<string, ReadRun>): string[] {
  const family: string[] = [];
  for (let id: string | undefined = runId; id !== undefined; id = runs.get(id)?.fork?.sourceRunId)
    family.push(id);
  return family;
}

/** Whichever of them an event names: the beginning of a fork names the run in which it happened. */
function unnamed(text: string | undefined, family: readonly string[]): string | undefined {
  return family.reduce((rest, runId) => rest?.replaceAll(runId, 'RUN'), text);
}
