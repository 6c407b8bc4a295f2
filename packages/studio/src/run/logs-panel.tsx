import { memo, useMemo } from 'react';
import { isJsonObject } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';
import { controlsShown, oneLine } from '../ui/shown-text.ts';
import { Empty } from '../ui/states.tsx';
import { clockText } from '../ui/time-text.ts';

const NEWEST = 1_000;

/** What nodes have written: log lines and streamed text. */
export function LogsPanel({
  events,
  length,
  at,
}: {
  readonly events: readonly RunEventDocument[];
  readonly length: number;
  readonly at: number;
}) {
  const lines = useMemo(
    () => events.slice(0, at + 1).filter(({ type }) => type === 'log.appended' || type === 'output.chunk'),
    [events, length, at],
  );
  if (lines.length === 0) return <Empty title="Nothing was logged">Lines that nodes log appear here.</Empty>;
  return (
    <div className="logs" tabIndex={0} role="log" aria-label="Log lines">
      {lines.length > NEWEST && (
        <p className="muted small">
          The newest {NEWEST} of {lines.length} lines.
        </p>
      )}
      {lines.slice(-NEWEST).map((event) => (
        <LogLine key={event.sequence} event={event} />
      ))}
    </div>
  );
}

/** While lines come in, those that are there stay as they are. */
const LogLine = memo(function LogLine({ event }: { readonly event: RunEventDocument }) {
  const payload = isJsonObject(event.payload) ? event.payload : {};
  const level = typeof payload['level'] === 'string' ? payload['level'] : 'text';
  return (
    <div className={`log-line ${level === 'error' ? 'bad' : level === 'warn' ? 'wait' : ''}`}>
      <span className="clock">{clockText(Date.parse(event.timestamp))}</span>
      <span className="level">{level}</span>
      <span className="node truncate">{event.nodeId ?? ''}</span>
      <span>
        {controlsShown(String(payload['message'] ?? payload['chunk'] ?? '')).slice(0, 4_000)}
        {payload['fields'] !== undefined && <span className="muted"> {oneLine(payload['fields'], 200)}</span>}
      </span>
    </div>
  );
});
