import { useMemo, useState } from 'react';
import { isJsonObject, type JsonObject } from '@weft/protocol/plain';
import type { ForkRequest, RunDocument, RunEventDocument, WorkflowDefinition } from '@weft/sdk';
import { useLoaded, useSigned } from '../app/hooks.ts';
import { FormFields } from '../form/form-fields.tsx';
import {
  changedMembers,
  fieldsOfVariables,
  type FormValues,
  initialValues,
  readForm,
} from '../form/form-model.ts';
import { Dialog } from '../ui/dialog.tsx';
import { problemText } from '../ui/states.tsx';
import { type ForkPoint, forkPoints, likelyPoint } from './fork-points.ts';

interface ForkDialogProps {
  readonly run: RunDocument;
  readonly definition: WorkflowDefinition | undefined;
  readonly events: readonly RunEventDocument[];
  /** The event that was chosen; left out, the most likely one. */
  readonly fromSeq?: number;
  readonly onClose: () => void;
}

/** A run that begins as this one did and decides for itself from an event on, with other inputs or another version. */
export function ForkDialog({ run, definition, events, fromSeq, onClose }: ForkDialogProps) {
  const { client } = useSigned();
  const inputs = useMemo(() => inputsOf(run), [run]);
  const fields = useMemo(() => fieldsOfVariables(definition?.variables ?? [], inputs), [definition, inputs]);
  const [values, setValues] = useState<FormValues>(() => initialValues(fields));
  const points = useMemo(() => pointsWith(events, fromSeq), [events, fromSeq]);
  const [from, setFrom] = useState(() => fromSeq ?? likelyPoint(points, failedAt(events)));
  const [mode, setMode] = useState<'branch' | 'replay'>('branch');
  const [version, setVersion] = useState('');
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [versions] = useLoaded(async () => {
    const found: string[] = [];
    for await (const workflow of client.workflows.list({ limit: 100 }))
      if (workflow.id === run.workflowId) found.push(workflow.version);
    return found;
  }, [run.workflowId]);
  const start = (): void => {
    const read = readForm(fields, values);
    const found = mode === 'branch' ? read.problems : {};
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    const before = readForm(fields, initialValues(fields)).value;
    const changed = changedMembers(isJsonObject(before) ? before : {}, read.value);
    const request: ForkRequest =
      mode === 'replay'
        ? { mode }
        : {
            mode,
            fromSeq: from,
            ...(Object.keys(changed).length > 0 && { values: changed }),
            ...(version !== '' && { workflowVersion: version }),
          };
    setBusy(true);
    setRefusal(undefined);
    client.runs.fork(run.runId, request).then(
      ({ runId }) => {
        location.hash = `#/compare?${new URLSearchParams({ a: run.runId, b: runId })}`;
      },
      (error: unknown) => {
        setBusy(false);
        setRefusal(problemText(error));
      },
    );
  };
  return (
    <Dialog title="Fork this run" onClose={onClose}>
      <div className="body stack">
        <fieldset className="choices">
          <legend className="visually-hidden">What the fork does</legend>
          <label className="check">
            <input type="radio" name="mode" checked={mode === 'branch'} onChange={() => setMode('branch')} />
            <span>
              <strong>Branch</strong>{' '}
              <span className="muted">keeps what came before an event and does the rest again</span>
            </span>
          </label>
          <label className="check">
            <input type="radio" name="mode" checked={mode === 'replay'} onChange={() => setMode('replay')} />
            <span>
              <strong>Replay</strong>{' '}
              <span className="muted">repeats the run by its record, without any effect</span>
            </span>
          </label>
        </fieldset>
        {mode === 'branch' && (
          <>
            <div className="row wrap top">
              <div className="field">
                <label htmlFor="fork-from">Decide again from</label>
                <select
                  id="fork-from"
                  className="input"
                  value={from}
                  onChange={(event) => setFrom(Number(event.target.value))}
                >
                  {points.map((point) => (
                    <option key={point.fromSeq} value={point.fromSeq}>
                      {`#${point.fromSeq} ${point.text}`}
                    </option>
                  ))}
                </select>
              </div>
              <div className="field">
                <label htmlFor="fork-version">Version of the workflow</label>
                <select
                  id="fork-version"
                  className="input"
                  value={version}
                  onChange={(event) => setVersion(event.target.value)}
                >
                  <option value="">the same</option>
                  {(versions.value ?? []).map((each) => (
                    <option key={each} value={each}>
                      {each}
                    </option>
                  ))}
                </select>
              </div>
            </div>
            <h3>Values</h3>
            {fields.length === 0 && <p className="muted small">This workflow declares no variables.</p>}
            <FormFields fields={fields} values={values} problems={problems} onChange={setValues} />
          </>
        )}
        {refusal !== undefined && (
          <div className="notice bad" role="alert">
            {refusal}
          </div>
        )}
      </div>
      <footer>
        <button type="button" className="button" onClick={onClose}>
          Not now
        </button>
        <button type="button" className="button primary" onClick={start} disabled={isBusy}>
          {isBusy ? 'Starting…' : 'Start, and compare both'}
        </button>
      </footer>
    </Dialog>
  );
}

/** The event that a person chose is always among them. */
function pointsWith(events: readonly RunEventDocument[], chosen: number | undefined): ForkPoint[] {
  const points = forkPoints(events);
  if (chosen === undefined || points.some(({ fromSeq }) => fromSeq === chosen)) return points;
  return [...points, { fromSeq: chosen, text: 'the chosen event' }].toSorted((x, y) => x.fromSeq - y.fromSeq);
}

/** Where the node began at which the run failed. */
function failedAt(events: readonly RunEventDocument[]): number | undefined {
  const end = events.at(-1);
  const node =
    end?.type === 'run.failed' && isJsonObject(end.payload) ? end.payload['failedNodeId'] : undefined;
  return events.findLast(({ type, nodeId }) => type === 'node.started' && nodeId === node)?.sequence;
}

/** Inputs as the host shows them: what is sensitive is masked, and left as it was unless it is typed again. */
function inputsOf(run: RunDocument): JsonObject {
  const { inputs } = run as JsonObject;
  return isJsonObject(inputs) ? inputs : {};
}
