import { lazy, Suspense, useMemo, useState } from 'react';
import { fieldChanges } from '@weft/engine/compare';
import { isJsonObject } from '@weft/protocol/plain';
import type { WorkflowDefinition, WorkflowProblem, WorkflowSummary } from '@weft/sdk';
import { changeQuery, useLoaded, useRoute, useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { ChangeTable } from '../compare/change-table.tsx';
import { FormFields } from '../form/form-fields.tsx';
import { fieldsOfVariables, type FormValues, initialValues, readForm } from '../form/form-model.ts';
import { useFoldedGraph } from '../graph/use-folded-graph.ts';
import { NodePanel } from '../run/node-panel.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Empty, Loading, Problem, problemText } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { timeText } from '../ui/time-text.ts';

const GraphView = lazy(async () => ({ default: (await import('../graph/graph-view.tsx')).GraphView }));

const TABS = {
  graph: 'Graph',
  start: 'Start a run',
  versions: 'Versions',
  findings: 'Findings',
  source: 'Definition',
} as const;
type Tab = keyof typeof TABS;

export function WorkflowPage({ workflowId }: { readonly workflowId: string }) {
  const { client } = useSigned();
  const { query } = useRoute();
  const version = query['version'];
  const [definition, reload] = useLoaded(
    async () => await client.workflows.get(workflowId, version),
    [workflowId, version],
  );
  const [versions] = useLoaded(async () => {
    const found: WorkflowSummary[] = [];
    for await (const each of client.workflows.list({ limit: 100 }))
      if (each.id === workflowId) found.push(each);
    return found.toSorted((x, y) => y.registeredAt.localeCompare(x.registeredAt));
  }, [workflowId]);
  const tab: Tab =
    query['tab'] !== undefined && Object.hasOwn(TABS, query['tab']) ? (query['tab'] as Tab) : 'graph';
  if (definition.state === 'failed')
    return (
      <div className="page">
        <Problem error={definition.error} onRetry={reload} />
      </div>
    );
  if (definition.value === undefined) return <Loading what="the workflow" />;
  return (
    <div className="page run-page">
      <header className="run-head">
        <p className="crumbs small">
          <a href="#/workflows">Workflows</a> / {workflowId}
        </p>
        <div className="row wrap">
          <h1>{definition.value.name}</h1>
          <label className="row">
            <span className="visually-hidden">Version</span>
            <select
              className="input"
              value={version ?? ''}
              onChange={(event) => changeQuery({ version: event.target.value })}
            >
              <option value="">
                {version === undefined ? `${definition.value.version} (current)` : 'current'}
              </option>
              {(versions.value ?? []).map((each) => (
                <option key={each.version} value={each.version}>
                  {each.version}
                </option>
              ))}
            </select>
          </label>
          <a className="button spread" href={`#/runs?workflow=${encodeURIComponent(workflowId)}`}>
            Its runs
          </a>
        </div>
        {definition.value.description !== undefined && <p className="lead">{definition.value.description}</p>}
      </header>
      <Tabs
        label="Views of the workflow"
        names={TABS}
        chosen={tab}
        onChoose={(name) => changeQuery({ tab: name === 'graph' ? undefined : name })}
      />
      <div className="panel" role="tabpanel" aria-label={TABS[tab]}>
        {tab === 'graph' && <Graph definition={definition.value} />}
        {tab === 'start' && (
          <StartForm key={definition.value.version} definition={definition.value} version={version} />
        )}
        {tab === 'versions' && <Versions definition={definition.value} versions={versions.value ?? []} />}
        {tab === 'findings' && <Findings definition={definition.value} />}
        {tab === 'source' && (
          <div className="card body-only">
            <JsonView value={definition.value} />
          </div>
        )}
      </div>
    </div>
  );
}

function Graph({ definition }: { readonly definition: WorkflowDefinition }) {
  const [chosen, setChosen] = useState<string>();
  const [graph, folding] = useFoldedGraph(definition);
  if (graph === undefined) return null;
  return (
    <div className={`graph-panel ${chosen === undefined ? '' : 'with-detail'}`}>
      <Suspense fallback={<Loading what="the graph" />}>
        <GraphView
          graph={graph}
          chosen={chosen}
          onChoose={(id) => setChosen(id === chosen ? undefined : id)}
          folding={folding}
        />
      </Suspense>
      {chosen !== undefined && (
        <NodePanel nodeId={chosen} definition={definition} onClose={() => setChosen(undefined)} />
      )}
    </div>
  );
}

function StartForm({
  definition,
  version,
}: {
  readonly definition: WorkflowDefinition;
  readonly version: string | undefined;
}) {
  const { client, session } = useSigned();
  const fields = useMemo(() => fieldsOfVariables(definition.variables), [definition]);
  const [values, setValues] = useState<FormValues>(() => initialValues(fields));
  const [tags, setTags] = useState('');
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  if (!may(session, 'runs:create'))
    return <Empty title="Your key may not start runs">It needs the scope runs:create.</Empty>;
  const start = (): void => {
    const read = readForm(fields, values);
    setProblems(read.problems);
    if (Object.keys(read.problems).length > 0) return;
    setBusy(true);
    const named = tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    const run = {
      workflowId: definition.id,
      ...(isJsonObject(read.value) && { inputs: read.value }),
      ...(named.length > 0 && { tags: named }),
      ...(version !== undefined && { configurable: { 'weft.workflowVersion': version } }),
    };
    client.runs.create(run).then(
      ({ runId }) => {
        location.hash = `#/runs/${encodeURIComponent(runId)}`;
      },
      (error: unknown) => {
        setBusy(false);
        setRefusal(problemText(error));
      },
    );
  };
  return (
    <form className="card form-card" onSubmit={(event) => (event.preventDefault(), start())}>
      <div className="body stack">
        {fields.length === 0 && <p className="muted">This workflow takes no inputs.</p>}
        <FormFields fields={fields} values={values} problems={problems} onChange={setValues} />
        <div className="field">
          <label htmlFor="tags">
            Tags <span className="muted">(optional)</span>
          </label>
          <input
            id="tags"
            className="input"
            value={tags}
            placeholder="nightly, customer-7"
            onChange={(event) => setTags(event.target.value)}
          />
        </div>
        {refusal !== undefined && (
          <div className="notice bad" role="alert">
            {refusal}
          </div>
        )}
        <div className="row">
          <button type="submit" className="button primary" disabled={isBusy}>
            {isBusy ? 'Starting…' : 'Start the run'}
          </button>
        </div>
      </div>
    </form>
  );
}

function Versions({
  definition,
  versions,
}: {
  readonly definition: WorkflowDefinition;
  readonly versions: readonly WorkflowSummary[];
}) {
  const { client } = useSigned();
  const [against, setAgainst] = useState<string>();
  const [other] = useLoaded(
    async () => (against === undefined ? undefined : await client.workflows.get(definition.id, against)),
    [definition.id, against],
  );
  const changes = useMemo(
    () => (other.value === undefined ? undefined : fieldChanges(other.value, definition)),
    [other.value, definition],
  );
  return (
    <div className="stack">
      <div className="table-wrap">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Registered</th>
              <th scope="col" className="wide">
                Digest
              </th>
              <th scope="col">
                <span className="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {versions.map((each) => (
              <tr key={each.version}>
                <td className="mono">
                  {each.version} {each.current === true && <span className="tag">current</span>}
                </td>
                <td>{timeText(Date.parse(each.registeredAt))}</td>
                <td className="mono muted wide">{each.digest.slice(0, 16)}</td>
                <td className="number">
                  {each.version !== definition.version && (
                    <button type="button" className="button tiny" onClick={() => setAgainst(each.version)}>
                      Difference to {definition.version}
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {other.state === 'failed' && <Problem error={other.error} />}
      {changes !== undefined && against !== undefined && (
        <section className="card">
          <header>
            <h2>
              What changed from {against} to {definition.version}
            </h2>
          </header>
          <div className="body">
            <ChangeTable changes={changes} a={against} b={definition.version} />
          </div>
        </section>
      )}
    </div>
  );
}

/** What the host's checker says about the definition as it stands. */
function Findings({ definition }: { readonly definition: WorkflowDefinition }) {
  const { client } = useSigned();
  const [report, reload] = useLoaded(
    async () => await client.workflows.check(definition),
    [definition.id, definition.version],
  );
  if (report.state === 'failed') return <Problem error={report.error} onRetry={reload} />;
  if (report.value === undefined) return <Loading what="the findings" />;
  const { errors, warnings } = report.value;
  if (errors.length + warnings.length === 0)
    return <Empty title="Nothing to find fault with">The checker has no errors and no warnings.</Empty>;
  return (
    <div className="stack">
      <Problems title="Errors" problems={errors} tone="bad" />
      <Problems title="Warnings" problems={warnings} tone="wait" />
    </div>
  );
}

function Problems({
  title,
  problems,
  tone,
}: {
  readonly title: string;
  readonly problems: readonly WorkflowProblem[];
  readonly tone: string;
}) {
  if (problems.length === 0) return null;
  return (
    <section className="stack">
      <h2>{title}</h2>
      {problems.map((problem) => (
        <div key={`${problem.path} ${problem.message}`} className={`notice ${tone}`}>
          <div>
            <strong className="mono">{problem.path === '' ? '/' : problem.path}</strong>
            <p>{problem.message}</p>
            <p className="small muted mono">{problem.code}</p>
          </div>
        </div>
      ))}
    </section>
  );
}
