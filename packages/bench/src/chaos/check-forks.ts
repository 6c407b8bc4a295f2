import type { Check, ReadRun } from './rules.ts';

/** Forks: how they begin, and what a replay may say. */

export function forksBegin({ history, runs, removed, fact, report }: Check): void {
  const told = new Set(history.forks.map(({ runId }) => runId));
  const there = new Set(history.runs.map(({ runId }) => runId));
  for (const { runId } of history.forks)
    if (!there.has(runId) && !removed.has(runId))
      report('C14', 'a fork was acknowledged and is not there', runId);
  for (const { runId, fork } of history.runs)
    if (fork !== undefined && !told.has(runId))
      report('C14', 'the run is a fork that nobody was told of', runId);
  for (const { runId, fork, log } of runs.values()) {
    const source = fork === undefined ? undefined : runs.get(fork.sourceRunId);
    if (fork === undefined || source === undefined) continue;
    fact('C14');
    for (let seq = 0; seq < fork.fromSeq; seq += 1) {
      const expected = source.log[seq]?.replaceAll(source.runId, runId);
      if (log[seq] === expected) continue;
      report('C14', `event ${seq} is ${log[seq]}, the source has ${expected}`, runId);
      break;
    }
  }
}

export function replaysRepeat({ history, runs, fact, report }: Check): void {
  for (const { runId, sourceRunId, mode, sourceEvents, sourceEnded } of history.forks) {
    const [replay, source] = [runs.get(runId), runs.get(sourceRunId)];
    if (mode !== 'replay' || replay === undefined || source === undefined) continue;
    fact('C15');
    const length = sourceEnded ? Math.max(source.events.length, replay.events.length) : sourceEvents;
    for (let seq = 0; seq < length; seq += 1) {
      const [is, was] = [said(replay, seq), said(source, seq)];
      if (is === was) continue;
      report('C15', `event ${seq} is ${is}, the source has ${was}`, runId);
      break;
    }
  }
}

/** Without times and ids of its own. */
function said({ runId, events }: ReadRun, seq: number): string | undefined {
  const event = events[seq];
  return event && JSON.stringify([event.type, event.nodeId, event.payload]).replaceAll(runId, 'RUN');
}
