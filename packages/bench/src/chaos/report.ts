import type { ChaosOutcome } from './chaos.ts';
import { HISTORY_RULES, type CheckResult } from './checking/rules.ts';

const MOST_SHOWN = 40;

/** Faults injected and facts checked, for people. */
export function renderReport(
  { injected, proxies, features, history, repeats, actions }: ChaosOutcome,
  result: CheckResult,
): string {
  const faults = {
    ...injected,
    ...Object.fromEntries(
      Object.entries(proxies.cut).map(([moment, count]) => [`connections cut ${moment} COMMIT`, count]),
    ),
    'COMMITs answered with 53100': proxies.full,
  };
  const work = {
    'runs acknowledged': history.created.length,
    'runs in the store': history.runs.length,
    'of them children': history.runs.filter(({ parentRunId }) => parentRunId !== undefined).length,
    'effects seen outside': history.effects.length,
    'of them repeated': history.effects.length - new Set(history.effects.map(({ call }) => call)).size,
    'tasks performed by workers': history.performances.length,
    'of them performed again':
      history.performances.length - new Set(history.performances.map(({ call }) => call)).size,
    events: history.runs.reduce((sum, { log }) => sum + log.length, 0),
    forks: history.forks.length,
    'of them replays': history.forks.filter(({ mode }) => mode === 'replay').length,
    'deliveries seen': history.deliveries.length,
    'given up and tried again': history.dead.length,
    ...startedCounts(history),
    ...Object.fromEntries(statuses(history.runs.map(({ status }) => status))),
  };
  return [
    table('faults', faults),
    table('work', work),
    table('requests sent again, by what was in the way', repeats),
    table('what operators did, and how it was answered', actions),
    table('blocks in workflows', features),
    renderCheckResult(result),
  ].join('\n');
}

/** Runs that started by themselves. */
function startedCounts({ runs, started }: ChaosOutcome['history']): Record<string, number> {
  const of = (kind: string): number => runs.filter(({ source }) => source?.kind === kind).length;
  const { deliveries, forged } = started;
  return {
    'started by schedules': of('schedule'),
    'started by triggers': of('trigger'),
    'delivery ids': deliveries.length,
    'of them sent': deliveries.reduce((sum, { sent }) => sum + sent, 0),
    'deliveries forged': forged.length,
  };
}

/** What was looked at, and what was found. */
export function renderCheckResult({ facts, violations }: CheckResult): string {
  const counts = Object.fromEntries(HISTORY_RULES.map(({ id, rule }) => [`${id} ${rule}`, facts[id]]));
  const lines = violations
    .slice(0, MOST_SHOWN)
    .map(
      ({ rule, runId, message }) =>
        `VIOLATION ${rule}${runId === undefined ? '' : ` ${runId}`}: ${message}\n`,
    );
  return [table('facts checked', counts), ...lines].join('\n');
}

function statuses(all: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const status of all) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

function table(title: string, rows: Readonly<Record<string, number | undefined>>): string {
  const entries = Object.entries(rows);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  const lines = entries.map(([name, count]) => `  ${name.padEnd(width)}  ${String(count ?? 0).padStart(7)}`);
  return `${title}\n${lines.join('\n')}\n`;
}
