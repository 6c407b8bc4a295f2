import type { Annotation } from '@weft/protocol';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';
import { agoText } from './time-text.ts';

export function renderAnnotationList(style: Style, annotations: readonly Annotation[], now: number): string {
  return renderTable<Annotation>(
    style,
    [
      { title: 'SAID', value: ({ createdAt }) => agoText(createdAt, now) },
      { title: 'BY', value: ({ actor }) => actor.principalRef },
      { title: 'ABOUT', value: aboutText },
      { title: 'SIGNAL', value: signalText },
      { title: 'NOTE', value: ({ note }) => note ?? '' },
    ],
    annotations,
  );
}

export function signalText({ signal }: Annotation): string {
  const said = signal.rating ?? signal.label ?? signal.correction;
  return said === undefined ? signal.kind : `${signal.kind}: ${said}`;
}

function aboutText({ target }: Annotation): string {
  const sequence = target.eventId?.slice(target.runId.length + 1);
  const event = sequence === undefined ? '' : `event ${sequence}`;
  return [target.nodeId, event].filter(Boolean).join(', ') || 'the run';
}
