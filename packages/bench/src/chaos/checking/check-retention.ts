import { PRIVATE_INPUT } from '../workload/client.ts';
import { comparable, type FinalRun, type History, type RemovalReceipt } from './history.ts';
import type { Check } from './rules.ts';

/** Runs that are carried away, removed, erased and spoken about. */

/** By how much clocks of processes are off each other, and a little more. */
export const CLOCKS_MS = 7_000;

export function importedRuns({ history, runs, fact, report }: Check): void {
  for (const { runId, sourceRunId, again, events } of history.imports) {
    const run = runs.get(runId);
    fact('C20');
    if (again.some((other) => other !== runId)) report('C20', `one bundle became ${again.join(', ')}`, runId);
    if (run === undefined) {
      report('C20', 'the bundle was taken, and the run is not there', runId);
      continue;
    }
    const made = run.events.map(comparable);
    const at = events.findIndex((event, index) => event !== made[index]);
    if (at !== -1 || made.length !== events.length)
      report('C20', `event ${at} of ${made.length} is ${made[at]}, the bundle has ${events[at]}`, runId);
    const source = runs.get(sourceRunId)?.events ?? [];
    if (source.length > 0 && run.events.some(({ type }, index) => type !== source[index]?.type))
      report('C20', `the bundle has other events than ${sourceRunId}`, runId);
  }
}

const GONE = new Set([404, 410]);

export function removedRuns({ history, removed, fact, report }: Check): void {
  const there = new Set(history.runs.map(({ runId }) => runId));
  for (const removal of history.removals) {
    const { runId } = removal;
    fact('C21');
    if (there.has(runId)) report('C21', 'the run was removed and is listed', runId);
    for (const run of history.runs)
      if (run.fork?.sourceRunId === runId && isOpenThrough(run, history.forks, removal))
        report('C21', `the run was removed while ${run.runId} needed it`, runId);
  }
  for (const { runId, request, status } of history.probes) {
    if (!removed.has(runId)) continue;
    fact('C21');
    if (!GONE.has(status)) report('C21', `the run was removed, and ${request} is answered ${status}`, runId);
  }
}

/** True when the fork was there before the removal was asked for, and ended long after it was done. */
function isOpenThrough(
  { runId, endedAt }: FinalRun,
  forks: History['forks'],
  { askedAt, at }: RemovalReceipt,
): boolean {
  const madeAt = forks.find((fork) => fork.runId === runId)?.at ?? Number.POSITIVE_INFINITY;
  const isLate = endedAt === undefined || Date.parse(endedAt) > at + CLOCKS_MS;
  return madeAt < askedAt && isLate;
}

export function erasedRuns({ history, runs, removed, fact, report }: Check): void {
  for (const { runId, log } of history.erasures) {
    const now = runs.get(runId)?.log;
    if (now === undefined) continue;
    fact('C22');
    if (now.join() !== log.join()) report('C22', 'the log is another one since the run was erased', runId);
  }
  for (const { runId, request, status, text } of history.probes) {
    if (removed.has(runId)) continue;
    fact('C22');
    if (text.includes(PRIVATE_INPUT)) report('C22', `${request} still shows what was erased`, runId);
    if (request.includes(':fork') && status === 201) report('C22', 'a run without values was forked', runId);
  }
}

export function annotationsKept({ history, runs, fact, report }: Check): void {
  for (const { runId, marker } of history.annotations) {
    const notes = runs.get(runId)?.notes;
    if (notes === undefined) continue;
    fact('C26');
    const count = notes.filter((note) => note === marker).length;
    if (count !== 1) report('C26', `${marker} was said once, and is there ${count} times`, runId);
  }
}
