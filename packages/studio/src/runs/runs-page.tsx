import { useState } from 'react';
import { isTerminalStatus, type RunSummary } from '@weft/sdk';
import { changeQuery, useEvery, useLoaded, useNow, useRoute, useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { agoText, durationText, timeText } from '../ui/time-text.ts';
import { RunChart } from './run-chart.tsx';
import { filtersOf, hostFilter, PERIODS, type RunFilters, STATUS_GROUPS } from './run-filters.ts';

const PAGE = 50;
const REFRESH_MS = 3_000;

export function RunsPage() {
  const { client, session } = useSigned();
  const { query } = useRoute();
  const filters = filtersOf(query);
  const [limit, setLimit] = useState(PAGE);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [runs, reload] = useLoaded(
    () => client.runs.list({ ...hostFilter(filters, Date.now()), limit }).then((page) => page),
    [filters, limit],
  );
  useEvery(REFRESH_MS, reload);
  const items = runs.value?.items ?? [];
  const hasFilters = Object.keys(filters).length > 0;
  return (
    <div className="page">
      <header className="page-head">
        <h1>Runs</h1>
        <LiveSign isLost={runs.state === 'failed' && runs.value !== undefined} />
        <a className="button primary spread" href="#/workflows">
          Start a run
        </a>
      </header>
      <RunChart filters={filters} />
      <Filters filters={filters} />
      {chosen.size > 0 && may(session, 'runs:cancel') && (
        <BulkBar
          chosen={chosen}
          onDone={() => (setChosen(new Set()), reload())}
          onClear={() => setChosen(new Set())}
        />
      )}
      {runs.state === 'failed' && <Problem error={runs.error} onRetry={reload} />}
      {runs.state === 'loading' && runs.value === undefined && <Loading what="runs" />}
      {runs.value !== undefined && items.length === 0 && <NoRuns hasFilters={hasFilters} />}
      {items.length > 0 && <RunTable runs={items} chosen={chosen} onChoose={setChosen} />}
      {runs.value?.nextCursor !== undefined && (
        <div className="more">
          <button
            type="button"
            className="button"
            onClick={() => setLimit(limit + PAGE)}
            disabled={limit >= 500}
          >
            {limit >= 500 ? 'Narrow the filters to see older runs' : 'Show more'}
          </button>
        </div>
      )}
    </div>
  );
}

function LiveSign({ isLost }: { readonly isLost: boolean }) {
  return (
    <span className={`live-sign ${isLost ? 'lost' : ''}`} role="status">
      <i aria-hidden="true" />
      {isLost ? 'Connection lost, trying again' : 'Live'}
    </span>
  );
}

function Filters({ filters }: { readonly filters: RunFilters }) {
  return (
    <form className="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <label>
        <span className="visually-hidden">Status</span>
        <select
          className="input"
          value={filters.status ?? ''}
          onChange={(event) => changeQuery({ status: event.target.value })}
        >
          <option value="">Any status</option>
          {Object.keys(STATUS_GROUPS).map((group) => (
            <option key={group} value={group}>
              {group[0]?.toUpperCase()}
              {group.slice(1)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="visually-hidden">Started</span>
        <select
          className="input"
          value={filters.within ?? ''}
          onChange={(event) => changeQuery({ within: event.target.value, from: undefined, until: undefined })}
        >
          <option value="">{filters.from === undefined ? 'Any time' : 'As chosen above'}</option>
          {Object.entries(PERIODS).map(([name, { text }]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <TextFilter name="workflow" label="Workflow" value={filters.workflow} />
      <TextFilter name="tag" label="Tag" value={filters.tag} />
      <TextFilter name="error" label="Error code" value={filters.error} />
      <TextFilter name="q" label="Run id starts with" value={filters.q} />
      {Object.keys(filters).length > 0 && (
        <a className="button plain" href="#/runs">
          Clear
        </a>
      )}
    </form>
  );
}

function TextFilter({
  name,
  label,
  value,
}: {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
}) {
  return (
    <label>
      <span className="visually-hidden">{label}</span>
      <input
        key={value ?? ''}
        className="input"
        placeholder={label}
        defaultValue={value ?? ''}
        onBlur={(event) =>
          event.target.value !== (value ?? '') && changeQuery({ [name]: event.target.value })
        }
        onKeyDown={(event) => event.key === 'Enter' && changeQuery({ [name]: event.currentTarget.value })}
      />
    </label>
  );
}

function NoRuns({ hasFilters }: { readonly hasFilters: boolean }) {
  return hasFilters ? (
    <Empty title="No run matches these filters">
      <a href="#/runs">Clear the filters</a>
    </Empty>
  ) : (
    <Empty title="No runs yet">
      <p>
        Runs appear here as soon as they start. Start one from a workflow, with the command line, or with a
        request.
      </p>
      <a className="button primary" href="#/workflows">
        Choose a workflow
      </a>
    </Empty>
  );
}

interface BulkBarProps {
  readonly chosen: ReadonlySet<string>;
  readonly onDone: () => void;
  readonly onClear: () => void;
}

function BulkBar({ chosen, onDone, onClear }: BulkBarProps) {
  const { client } = useSigned();
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const cancel = (): void => {
    setState({ isBusy: true });
    client.runs
      .bulkCancel([...chosen], { reason: 'cancelled in Studio' })
      .then(onDone, (error: unknown) => setState({ isBusy: false, error }));
  };
  return (
    <>
      <div className="bulk-bar" role="region" aria-label="Chosen runs">
        <span>{chosen.size === 1 ? '1 run chosen' : `${chosen.size} runs chosen`}</span>
        <button type="button" className="button danger tiny" onClick={cancel} disabled={state.isBusy}>
          Cancel {chosen.size === 1 ? 'it' : 'them'}
        </button>
        {chosen.size === 2 && (
          <a
            className="button tiny"
            href={`#/compare?${new URLSearchParams({ a: [...chosen][0] ?? '', b: [...chosen][1] ?? '' })}`}
          >
            Compare
          </a>
        )}
        <button type="button" className="button plain tiny" onClick={onClear}>
          Clear
        </button>
      </div>
      {state.error !== undefined && <Problem error={state.error} />}
    </>
  );
}

interface RunTableProps {
  readonly runs: readonly RunSummary[];
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
}

function RunTable({ runs, chosen, onChoose }: RunTableProps) {
  const now = useNow(1_000);
  const toggle = (runId: string): void => {
    const next = new Set(chosen);
    if (!next.delete(runId)) next.add(runId);
    onChoose(next);
  };
  return (
    <div className="table-wrap">
      <table className="table runs">
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">Choose</span>
            </th>
            <th scope="col">Status</th>
            <th scope="col">Workflow</th>
            <th scope="col" className="wide">
              Run
            </th>
            <th scope="col">Started</th>
            <th scope="col" className="number">
              Duration
            </th>
            <th scope="col" className="number wide">
              Events
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.runId}>
              <td className="choose">
                <input
                  type="checkbox"
                  aria-label={`Choose run ${run.runId.slice(0, 8)} of ${run.workflowId}`}
                  checked={chosen.has(run.runId)}
                  onChange={() => toggle(run.runId)}
                />
              </td>
              <td>
                <Status status={run.status} />
              </td>
              <td className="what">
                <a className="strong" href={`#/runs/${encodeURIComponent(run.runId)}`}>
                  {run.workflowId}
                </a>{' '}
                <span className="muted small">{run.workflowVersion}</span>
                {run.errorCode !== undefined && <div className="small error-code">{run.errorCode}</div>}
                {run.quarantined !== undefined && (
                  <div className="small error-code">quarantined: {run.quarantined.reason}</div>
                )}
                {run.tags.length > 0 && (
                  <div className="row wrap">
                    {run.tags.map((tag) => (
                      <span key={tag} className="tag">
                        {tag}
                      </span>
                    ))}
                  </div>
                )}
              </td>
              <td className="mono muted wide">{run.runId}</td>
              <td className="when" title={timeText(Date.parse(run.createdAt))}>
                {agoText(Date.parse(run.createdAt), now)}
              </td>
              <td className="number">{lengthOf(run, now)}</td>
              <td className="number wide">{run.events.toLocaleString('en')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function lengthOf(run: RunSummary, now: number): string {
  if (run.startedAt === undefined) return '–';
  const end =
    run.completedAt === undefined
      ? isTerminalStatus(run.status)
        ? Number.NaN
        : now
      : Date.parse(run.completedAt);
  return durationText(end - Date.parse(run.startedAt));
}
