import { type DragEvent, useState } from 'react';
import type { Client, RunSummary } from '@weft/sdk';
import { useLoaded } from '../app/hooks.ts';
import { problemText } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { agoText } from '../ui/time-text.ts';
import { type OpenedBundle, openBundleFile } from './bundle-file.ts';
import type { Side } from './load-comparison.ts';

interface SidePickerProps {
  readonly name: 'a' | 'b';
  readonly client: Client | undefined;
  readonly runId: string | undefined;
  readonly file: OpenedBundle | undefined;
  readonly side: Side | undefined;
  readonly onRun: (runId: string) => void;
  readonly onFile: (file: OpenedBundle) => void;
}

export function SidePicker({ name, client, runId, file, side, onRun, onFile }: SidePickerProps) {
  const [problem, setProblem] = useState<string>();
  const [isOver, setOver] = useState(false);
  const open = (given: File | undefined): void => {
    if (given === undefined) return;
    setProblem(undefined);
    openBundleFile(given).then(onFile, (error: unknown) =>
      setProblem(`${given.name}: ${problemText(error)}`),
    );
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    open(event.dataTransfer.files[0]);
  };
  return (
    <section
      className={`side ${name} ${isOver ? 'dropping' : ''}`}
      aria-label={`Side ${name}`}
      onDragOver={(event) => (event.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <h2 className={`${name}-side`}>{name}</h2>
      <div className="row wrap">
        {client !== undefined && (
          <RunChooser
            name={name}
            client={client}
            chosen={file === undefined ? runId : undefined}
            onRun={onRun}
          />
        )}
        <label className="button">
          {client === undefined ? 'Choose a bundle file' : 'File…'}
          <input
            type="file"
            className="visually-hidden"
            accept=".json,.gz,application/json"
            aria-label={`Bundle file for side ${name}`}
            onChange={(event) => open(event.target.files?.[0])}
          />
        </label>
      </div>
      {problem !== undefined && (
        <p className="notice bad" role="alert">
          {problem}
        </p>
      )}
      {side !== undefined && (
        <p className="row wrap small">
          <Status status={side.run.status} />
          <span>{side.run.workflowId}</span>
          {file === undefined ? (
            <a className="mono" href={`#/runs/${encodeURIComponent(side.run.runId)}`}>
              {side.run.runId}
            </a>
          ) : (
            <span className="mono">{side.run.runId}</span>
          )}
          {file !== undefined && (
            <span className="tag">
              {file.digest === 'holds' ? 'file, unchanged since it was written' : 'file, not verified'}
            </span>
          )}
          {side.isCut && <span className="tag">first part of the log</span>}
        </p>
      )}
    </section>
  );
}

interface RunChooserProps {
  readonly name: string;
  readonly client: Client;
  readonly chosen: string | undefined;
  readonly onRun: (runId: string) => void;
}

/** The newest runs to choose from, and any other by its id. */
function RunChooser({ name, client, chosen, onRun }: RunChooserProps) {
  const [newest] = useLoaded(async () => (await client.runs.list({ limit: 30 })).items, []);
  const runs = newest.value ?? [];
  const isListed = chosen === undefined || runs.some(({ runId }) => runId === chosen);
  const now = Date.now();
  return (
    <>
      <select
        className="input"
        aria-label={`Run for side ${name}`}
        value={chosen ?? ''}
        onChange={(event) => onRun(event.target.value)}
      >
        <option value="">Choose a run…</option>
        {!isListed && <option value={chosen}>{chosen}</option>}
        {runs.map((run) => (
          <option key={run.runId} value={run.runId}>
            {optionText(run, now)}
          </option>
        ))}
      </select>
      <input
        className="input mono"
        aria-label={`Id of the run for side ${name}`}
        placeholder="or its id"
        onKeyDown={(event) =>
          event.key === 'Enter' &&
          event.currentTarget.value.trim() !== '' &&
          onRun(event.currentTarget.value.trim())
        }
      />
    </>
  );
}

function optionText({ workflowId, runId, status, createdAt }: RunSummary, now: number): string {
  return `${workflowId} · ${status} · ${agoText(Date.parse(createdAt), now)} · ${runId.slice(0, 18)}`;
}
