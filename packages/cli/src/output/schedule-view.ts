import type { ScheduleDetails, ScheduleFiring, ScheduleSummary } from '@weft/sdk';
import type { Style } from './style.ts';
import { renderFields, renderTable } from './table.ts';
import { durationText } from './time-text.ts';

export function timingText({ everyMs, cron, timeZone }: ScheduleSummary): string {
  return everyMs === undefined ? `${cron} ${timeZone}` : `every ${durationText(everyMs)}`;
}

export function renderScheduleList(style: Style, schedules: readonly ScheduleSummary[]): string {
  return renderTable<ScheduleSummary>(
    style,
    [
      { title: 'SCHEDULE', value: ({ name }) => name },
      { title: 'WORKFLOW', value: ({ workflowId }) => workflowId },
      { title: 'STATE', value: ({ state }) => state },
      { title: 'WHEN', value: timingText },
      { title: 'NEXT', value: ({ nextDueAt }) => nextDueAt ?? '-' },
      { title: 'STARTED', value: ({ counts }) => String(counts['started'] ?? 0), align: 'right' },
      { title: 'OPEN', value: ({ openRuns }) => String(openRuns.length), align: 'right' },
    ],
    schedules,
  );
}

export function renderSchedule(style: Style, schedule: ScheduleSummary): string {
  const { paused, ownedBy, openRuns, queued } = schedule;
  return renderFields(style, [
    ['schedule', schedule.name],
    ['workflow', schedule.workflowId],
    ['state', paused === undefined ? schedule.state : `paused since ${paused.at}: ${paused.reason}`],
    ['when', timingText(schedule)],
    ['next', schedule.nextDueAt],
    ['overlap', schedule.overlap],
    ['catch up', durationText(schedule.catchUpMs)],
    ['jitter', schedule.jitterMs === 0 ? undefined : durationText(schedule.jitterMs)],
    ['start', schedule.start],
    ['end', schedule.end],
    ['declared by', ownedBy && `workflow ${ownedBy.workflowId}, trigger ${ownedBy.triggerId}`],
    ['open runs', openRuns.length === 0 ? undefined : openRuns.join(' ')],
    ['queued', queued.length === 0 ? undefined : queued.join(' ')],
  ]);
}

/** With the last and the next firings, and why one was skipped. */
export function renderScheduleDetails(style: Style, schedule: ScheduleDetails): string {
  const last = renderTable<ScheduleFiring>(
    style,
    [
      { title: 'DUE', value: ({ dueAt, until }) => (until === undefined ? dueAt : `${dueAt} to ${until}`) },
      { title: 'OUTCOME', value: ({ outcome }) => outcome },
      { title: 'RUN', value: ({ runId }) => runId ?? '-' },
      { title: 'REASON', value: ({ reason }) => reason ?? '' },
    ],
    schedule.firings,
  );
  const next = schedule.upcoming.length === 0 ? 'none' : schedule.upcoming.join('\n');
  const parts = [renderSchedule(style, schedule), `${style.dim('NEXT DUE')}\n${next}`];
  return (schedule.firings.length === 0 ? parts : [...parts, last]).join('\n\n');
}
