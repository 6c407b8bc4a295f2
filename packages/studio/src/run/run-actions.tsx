import { useState } from 'react';
import { isTerminalStatus, type RunDocument } from '@weft/sdk';
import { useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { Icon } from '../ui/icons.tsx';
import { problemText } from '../ui/states.tsx';

interface RunActionsProps {
  readonly run: RunDocument;
  /** The newest that the log tells. */
  readonly status: string;
  readonly onChanged: () => void;
  readonly onFork?: () => void;
}

/** What one may do with the run, and only that. */
export function RunActions({ run, status, onChanged, onFork }: RunActionsProps) {
  const { client, session } = useSigned();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const act = (ask: () => PromiseLike<unknown>): void => {
    setBusy(true);
    setProblem(undefined);
    Promise.resolve(ask())
      .then(onChanged, (error: unknown) => setProblem(problemText(error)))
      .finally(() => setBusy(false));
  };
  const { runId } = run;
  const isActive = !isTerminalStatus(status);
  const mayStop = may(session, 'runs:cancel') && isActive;
  return (
    <>
      {problem !== undefined && (
        <span className="small error-code" role="alert">
          {problem}
        </span>
      )}
      {mayStop && status === 'paused' && (
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() => act(() => client.runs.resume(runId))}
        >
          Resume
        </button>
      )}
      {mayStop && status !== 'paused' && (
        <button
          type="button"
          className="button"
          disabled={isBusy}
          onClick={() => act(() => client.runs.pause(runId, { reason: 'paused in Studio' }))}
        >
          Pause
        </button>
      )}
      {mayStop && (
        <button
          type="button"
          className="button danger"
          disabled={isBusy}
          onClick={() => act(() => client.runs.cancel(runId, { reason: 'cancelled in Studio' }))}
        >
          Cancel
        </button>
      )}
      <a className="button" href={`#/compare?${new URLSearchParams({ a: runId })}`}>
        <Icon name="columns" /> Compare
      </a>
      {onFork !== undefined && (
        <button type="button" className="button" onClick={onFork}>
          <Icon name="fork" /> {status === 'failed' ? 'Fork or retry' : 'Fork'}
        </button>
      )}
    </>
  );
}
