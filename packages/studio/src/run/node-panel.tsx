import type { WorkflowDefinition } from '@weft/sdk';
import type { JsonObject } from '@weft/protocol/plain';
import { JsonView } from '../ui/json-view.tsx';
import { Status } from '../ui/status.tsx';
import { durationText } from '../ui/time-text.ts';
import type { NodeView, RunView } from './run-fold.ts';

interface NodePanelProps {
  readonly nodeId: string;
  readonly definition: WorkflowDefinition | undefined;
  /** Absent for a workflow that is not executed. */
  readonly view?: RunView;
  readonly onEvents?: (key: string) => void;
  readonly onClose: () => void;
}

const ROUNDS = 50;

/** Everything about one node: how it is configured, and what it did. */
export function NodePanel({ nodeId, definition, view, onEvents, onClose }: NodePanelProps) {
  const node = definition?.nodes.find(({ id }) => id === nodeId);
  const rounds = view === undefined ? [] : [...view.nodes.values()].filter((each) => each.nodeId === nodeId);
  return (
    <aside className="node-panel" aria-label={`Node ${nodeId}`}>
      <header className="row">
        <div>
          <h2>{node?.name ?? nodeId}</h2>
          <p className="muted small mono">
            {nodeId}
            {node !== undefined && ` · ${node.typeId}`}
          </p>
        </div>
        <button type="button" className="button plain tiny spread" onClick={onClose}>
          Close
        </button>
      </header>
      {node?.notes !== undefined && <p className="small">{node.notes}</p>}
      {rounds.slice(0, ROUNDS).map((round) => (
        <Round key={round.key} round={round} onEvents={onEvents} />
      ))}
      {rounds.length > ROUNDS && (
        <p className="muted small">and {rounds.length - ROUNDS} more rounds; the events have them all</p>
      )}
      {view !== undefined && rounds.length === 0 && <p className="muted">Has not been reached.</p>}
      {node !== undefined && (
        <>
          <Part title="Configuration" value={node.config} />
          <Part title="Inputs" value={node.inputs} />
          <Part title="Settings" value={node.settings} />
        </>
      )}
    </aside>
  );
}

function Round({
  round,
  onEvents,
}: {
  readonly round: NodeView;
  readonly onEvents: ((key: string) => void) | undefined;
}) {
  const { key, nodeId, status, attempt, startedAt, endedAt, note, childRunId, outputs, waitsFor } = round;
  return (
    <section className="round">
      <div className="row wrap">
        <Status status={status} />
        {key !== nodeId && <span className="mono small">{key.slice(nodeId.length)}</span>}
        {attempt > 0 && <span className="small muted">attempt {attempt + 1}</span>}
        {startedAt !== undefined && endedAt !== undefined && (
          <span className="small muted">{durationText(endedAt - startedAt)}</span>
        )}
        {onEvents !== undefined && (
          <button type="button" className="button plain tiny spread" onClick={() => onEvents(key)}>
            Events
          </button>
        )}
      </div>
      {waitsFor !== undefined && status === 'waiting' && <p className="small">Waits for {waitsFor}.</p>}
      {note !== undefined && <p className="small">{note}</p>}
      {childRunId !== undefined && (
        <a className="small" href={`#/runs/${encodeURIComponent(childRunId)}`}>
          Open the child run
        </a>
      )}
      {outputs !== undefined && <JsonView value={outputs} />}
    </section>
  );
}

function Part({ title, value }: { readonly title: string; readonly value: JsonObject | undefined }) {
  if (value === undefined || Object.keys(value).length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <JsonView value={value} />
    </section>
  );
}
