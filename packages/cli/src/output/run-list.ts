import type { RunSummary } from '@weft/sdk';
import { type Style, paintStatus } from './style.ts';
import { renderTable } from './table.ts';
import { agoText, betweenText } from './time-text.ts';

export function renderRunList(style: Style, runs: readonly RunSummary[], now: number): string {
  return renderTable<RunSummary>(
    style,
    [
      { title: 'RUN', value: (run) => run.runId },
      { title: 'WORKFLOW', value: (run) => `${run.workflowId}@${run.workflowVersion}` },
      {
        title: 'STATUS',
        value: (run) => run.status,
        paint: (text, run) => text.replace(run.status, paintStatus(style, run.status)),
      },
      { title: 'CREATED', value: (run) => agoText(run.createdAt, now) },
      { title: 'TOOK', value: (run) => betweenText(run.startedAt, run.completedAt) ?? '', align: 'right' },
      { title: 'NOTE', value: noteOf },
    ],
    runs,
  );
}

function noteOf(run: RunSummary): string {
  const at = run.currentNodeId === undefined ? '' : `at ${run.currentNodeId}`;
  const origin = run.imported === true ? 'imported' : '';
  const aside = run.quarantined === undefined ? '' : 'quarantined';
  return [
    origin,
    aside,
    run.damaged === true ? 'damaged' : '',
    run.errorCode ?? at,
    run.source === undefined ? '' : `by ${run.source}`,
    ...run.tags.map((tag) => `#${tag}`),
  ]
    .filter(Boolean)
    .join(' ');
}
