import { type OpenInterrupt, nodeNameOf } from '@weft/sdk';
import { asksText, votesText } from './question.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';
import { agoText, durationText } from './time-text.ts';

const MAX_ASKS = 60;

export function renderInbox(style: Style, questions: readonly OpenInterrupt[], now: number): string {
  return renderTable<OpenInterrupt>(
    style,
    [
      { title: 'RUN', value: ({ runId }) => runId },
      { title: 'WORKFLOW', value: ({ workflowId }) => workflowId },
      { title: 'NODE', value: nodeNameOf },
      { title: 'KIND', value: ({ kind }) => kind, paint: (text) => style.yellow(text) },
      { title: 'ASKS', value: (question) => shortened(asksText(question)) },
      { title: 'VOTES', value: votesText },
      { title: 'SINCE', value: ({ requestedAt }) => agoText(requestedAt, now) },
      { title: 'UNTIL', value: ({ expiresAt }) => untilText(expiresAt, now) },
    ],
    questions,
  );
}

function shortened(text: string): string {
  return text.length > MAX_ASKS ? `${text.slice(0, MAX_ASKS - 1)}…` : text;
}

function untilText(iso: string | undefined, now: number): string {
  if (iso === undefined) return '';
  const left = Date.parse(iso) - now;
  if (Number.isNaN(left)) return iso;
  return left <= 0 ? 'now' : `in ${durationText(left)}`;
}
