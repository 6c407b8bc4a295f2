import { useState } from 'react';
import type { Annotation, AnnotationCreate } from '@weft/protocol/plain';
import { useLoaded, useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { controlsShown } from '../ui/shown-text.ts';
import { Empty, Loading, Problem, problemText } from '../ui/states.tsx';
import { timeText } from '../ui/time-text.ts';
import {
  blankDraft,
  type Draft,
  type DraftKind,
  KINDS,
  signalText,
  toAnnotation,
} from './annotation-draft.ts';

interface AnnotationsPanelProps {
  readonly runId: string;
  /** Ids of the nodes that an annotation can be about. */
  readonly nodes: readonly string[];
}

/** What people say about the run. It is kept next to the log, and is not part of it. */
export function AnnotationsPanel({ runId, nodes }: AnnotationsPanelProps) {
  const { client, session } = useSigned();
  const [list, reload] = useLoaded(async () => await client.annotations.list(runId), [runId]);
  return (
    <div className="annotations">
      {may(session, 'runs:annotate') && (
        <AnnotationForm
          nodes={nodes}
          onAdd={async (annotation) => {
            await client.annotations.create(runId, annotation);
            reload();
          }}
        />
      )}
      {list.state === 'failed' && <Problem error={list.error} onRetry={reload} />}
      {list.value === undefined && list.state === 'loading' && <Loading what="annotations" />}
      {list.value?.length === 0 && (
        <Empty title="No annotations yet">
          <p>Ratings, labels, flags and corrections can be added at any time, after the end too.</p>
        </Empty>
      )}
      {list.value !== undefined && list.value.length > 0 && (
        <ul className="cards" aria-label="Annotations">
          {list.value.toReversed().map((annotation) => (
            <Entry key={annotation.annotationId} annotation={annotation} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Entry({
  annotation: { signal, actor, note, target, createdAt },
}: {
  readonly annotation: Annotation;
}) {
  return (
    <li className="card">
      <div className="body stack">
        <div className="row wrap">
          <span className={`status tone-${signal.kind === 'flag' ? 'bad' : 'live'}`}>{signal.kind}</span>
          <strong>{controlsShown(signalText(signal))}</strong>
          <span className="muted small spread">
            {target.nodeId !== undefined && `node ${controlsShown(target.nodeId)} · `}
            {target.eventId !== undefined && `event ${controlsShown(target.eventId)} · `}
            {controlsShown(actor.principalRef)} · {timeText(Date.parse(createdAt))}
          </span>
        </div>
        {note !== undefined && <p className="note">{controlsShown(note)}</p>}
      </div>
    </li>
  );
}

interface AnnotationFormProps {
  readonly nodes: readonly string[];
  readonly onAdd: (annotation: AnnotationCreate) => Promise<void>;
}

function AnnotationForm({ nodes, onAdd }: AnnotationFormProps) {
  const [draft, setDraft] = useState<Draft>(blankDraft);
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const change = (part: Partial<Draft>): void => setDraft({ ...draft, ...part });
  const add = (): void => {
    const annotation = toAnnotation(draft);
    setProblem(typeof annotation === 'string' ? annotation : undefined);
    if (typeof annotation === 'string') return;
    setBusy(true);
    onAdd(annotation)
      .then(
        () => setDraft(blankDraft),
        (error: unknown) => setProblem(problemText(error)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <form
      className="card"
      aria-label="New annotation"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <div className="body stack">
        <div className="row wrap top">
          <div className="field">
            <label htmlFor="annotation-kind">Say</label>
            <select
              id="annotation-kind"
              className="input"
              value={draft.kind}
              onChange={(event) => change({ kind: event.target.value as DraftKind })}
            >
              {Object.entries(KINDS).map(([kind, text]) => (
                <option key={kind} value={kind}>
                  {text}
                </option>
              ))}
            </select>
          </div>
          <Value draft={draft} onChange={change} />
          <div className="field">
            <label htmlFor="annotation-node">About</label>
            <select
              id="annotation-node"
              className="input"
              value={draft.nodeId}
              onChange={(event) => change({ nodeId: event.target.value })}
            >
              <option value="">The whole run</option>
              {nodes.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          </div>
        </div>
        <div className="field">
          <label htmlFor="annotation-note">
            Note <span className="muted">(optional)</span>
          </label>
          <textarea
            id="annotation-note"
            className="input"
            rows={2}
            maxLength={4_096}
            value={draft.note}
            onChange={(event) => change({ note: event.target.value })}
          />
        </div>
        {problem !== undefined && (
          <p className="notice bad" role="alert">
            {problem}
          </p>
        )}
        <div className="row">
          <button type="submit" className="button primary" disabled={isBusy}>
            Add
          </button>
        </div>
      </div>
    </form>
  );
}

interface ValueProps {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
}

function Value({ draft, onChange }: ValueProps) {
  if (draft.kind === 'flag') return null;
  return (
    <div className="field">
      <label htmlFor="annotation-value">{KINDS[draft.kind]}</label>
      {draft.kind === 'rating' ? (
        <select
          id="annotation-value"
          className="input"
          value={draft.rating}
          onChange={(event) => onChange({ rating: event.target.value })}
        >
          {['5', '4', '3', '2', '1'].map((stars) => (
            <option key={stars} value={stars}>
              {`${stars} of 5`}
            </option>
          ))}
        </select>
      ) : (
        <input
          id="annotation-value"
          className="input"
          maxLength={draft.kind === 'label' ? 256 : 16_384}
          value={draft.text}
          onChange={(event) => onChange({ text: event.target.value })}
        />
      )}
    </div>
  );
}
