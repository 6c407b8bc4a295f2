import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { isJsonObject, type JsonObject } from '@weft/protocol/plain';
import {
  ApiError,
  isTerminalStatus,
  openInterruptsOf,
  type RunDocument,
  type WorkflowDefinition,
} from '@weft/sdk';
import { changeQuery, type Loaded, useLoaded, useNow, useRoute, useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { graphOf, summariesOf } from '../graph/graph-model.ts';
import { QuestionCard } from '../inbox/question-card.tsx';
import { Boundary } from '../ui/boundary.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { durationText, timeText } from '../ui/time-text.ts';
import { EventLog } from './event-log.tsx';
import { type Connection, type FollowedLog, useFollowedLog } from './follow-log.ts';
import { ForkDialog } from './fork-dialog.tsx';
import { LogsPanel } from './logs-panel.tsx';
import { NodePanel } from './node-panel.tsx';
import { RunActions } from './run-actions.tsx';
import type { RunView } from './run-fold.ts';
import { StatePanel } from './state-panel.tsx';
import { TimeSlider } from './time-slider.tsx';
import { TimelinePanel } from './timeline-panel.tsx';

const GraphView = lazy(async () => ({ default: (await import('../graph/graph-view.tsx')).GraphView }));

const TABS = {
  graph: 'Graph',
  timeline: 'Timeline',
  events: 'Events',
  state: 'State',
  logs: 'Logs',
} as const;
type Tab = keyof typeof TABS;

export function RunPage({ runId }: { readonly runId: string }) {
  const { client, session } = useSigned();
  const { query } = useRoute();
  const log = useFollowedLog(client, runId);
  const { history, length, connection } = log;
  const [at, setAt] = useMoment(query['at']);
  const view = useMemo(
    () => (at === undefined ? history.latest() : history.viewAt(at)),
    [history, length, at],
  );
  const newest = useMemo(() => history.latest(), [history, length]);
  const [run, reload] = useLoaded(async () => await client.runs.get(runId), [runId]);
  // The document changes when the run's status does, which the log tells; and it may have changed while the host was away.
  useEffect(reload, [reload, newest.status, connection.state]);
  const version = versionOf(run.value);
  const workflowId = run.value?.workflowId;
  const [definition] = useLoaded(
    async () =>
      workflowId === undefined || !may(session, 'manifest:read')
        ? undefined
        : await client.workflows.get(workflowId, version),
    [workflowId, version],
  );
  const [fork, setFork] = useState<{ readonly fromSeq?: number }>();
  const tab = tabOf(query['tab']);

  if (run.value === undefined) {
    if (run.state === 'loading') return <Loading what="the run" />;
    return <Missing error={run.state === 'failed' ? run.error : undefined} onRetry={reload} />;
  }
  const isNow = at === undefined;
  const questions = isNow && may(session, 'approvals:respond') ? openInterruptsOf(run.value) : [];
  const onFork = may(session, 'runs:create')
    ? (fromSeq?: number) => setFork(fromSeq === undefined ? {} : { fromSeq })
    : undefined;
  return (
    <div className="page run-page">
      <RunHead run={run.value} view={view} connection={connection} isNow={isNow}>
        <RunActions
          run={run.value}
          status={newest.status}
          onChanged={reload}
          {...(onFork !== undefined && { onFork: () => onFork(isNow ? undefined : view.sequence) })}
        />
      </RunHead>
      {connection.state === 'failed' && <Problem error={connection.error} />}
      {isNow && view.error !== undefined && (
        <div className="notice bad" role="alert">
          <div>
            <strong>{view.error.code}</strong>
            {view.error.nodeId !== undefined && <span> at node {view.error.nodeId}</span>}
            <p>{view.error.message}</p>
          </div>
        </div>
      )}
      {questions.map((question) => (
        <QuestionCard key={question.interruptId} question={question} onAnswered={reload} />
      ))}
      <TimeSlider
        events={history.events}
        length={length}
        at={at}
        isActive={!isTerminalStatus(newest.status)}
        onMove={setAt}
      />
      <Tabs
        label="Views of the run"
        names={TABS}
        chosen={tab}
        onChoose={(name) => changeQuery({ tab: name === 'graph' ? undefined : name })}
      />
      <RunPanel
        tab={tab}
        runId={runId}
        log={log}
        at={at}
        view={view}
        definition={definition}
        onMove={setAt}
        onFork={onFork}
      />
      {fork !== undefined && (
        <ForkDialog
          run={run.value}
          definition={definition.value}
          events={history.events}
          {...fork}
          onClose={() => setFork(undefined)}
        />
      )}
    </div>
  );
}

interface RunPanelProps {
  readonly tab: Tab;
  readonly runId: string;
  readonly log: FollowedLog;
  readonly at: number | undefined;
  readonly view: RunView;
  readonly definition: Loaded<WorkflowDefinition | undefined>;
  readonly onMove: (at: number | undefined) => void;
  readonly onFork: ((sequence: number) => void) | undefined;
}

function RunPanel({
  tab,
  runId,
  log: { history, length },
  at,
  view,
  definition,
  onMove,
  onFork,
}: RunPanelProps) {
  const [node, setNode] = useState('');
  const { events } = history;
  const place = at ?? length - 1;
  const showEvents = (key: string): void => {
    setNode(key);
    changeQuery({ tab: 'events' });
  };
  return (
    <div className="panel" role="tabpanel" aria-label={TABS[tab]}>
      {tab === 'graph' && (
        <GraphPanel
          definition={definition.value}
          isLoading={definition.state === 'loading'}
          view={view}
          onEvents={showEvents}
        />
      )}
      {tab === 'timeline' && (
        <TimelinePanel
          events={events}
          length={length}
          sequence={view.sequence}
          endedAt={at === undefined ? view.endedAt : view.at}
          onNode={showEvents}
        />
      )}
      {tab === 'events' && (
        <EventLog
          events={events}
          length={length}
          at={place}
          node={node}
          onNode={setNode}
          onGoTo={(index) => onMove(index >= length - 1 ? undefined : index)}
          {...(onFork !== undefined && { onFork })}
        />
      )}
      {tab === 'state' && <StatePanel runId={runId} sequence={view.sequence} outputs={view.outputs} />}
      {tab === 'logs' && <LogsPanel events={events} length={length} at={place} />}
    </div>
  );
}

/** The moment that is looked at, kept in the address once it rests. */
function useMoment(given: string | undefined): [number | undefined, (at: number | undefined) => void] {
  const [at, setAt] = useState(given !== undefined && /^\d{1,9}$/.test(given) ? Number(given) : undefined);
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = at === undefined ? undefined : String(at);
      if (next !== given) changeQuery({ at: next });
    }, 400);
    return () => clearTimeout(timer);
  }, [at, given]);
  return [at, setAt];
}

function tabOf(name: string | undefined): Tab {
  return name !== undefined && Object.hasOwn(TABS, name) ? (name as Tab) : 'graph';
}

function versionOf(run: RunDocument | undefined): string | undefined {
  const extras = (run as JsonObject | undefined)?.['weft'];
  const version = isJsonObject(extras) ? extras['workflowVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

function Missing({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return (
      <Empty title="There is no such run">
        <p>It may have been removed, or belong to another tenant.</p>
        <a href="#/runs">All runs</a>
      </Empty>
    );
  return (
    <div className="page">
      <Problem error={error} onRetry={onRetry} />
    </div>
  );
}

interface RunHeadProps {
  readonly run: RunDocument;
  readonly view: RunView;
  readonly connection: Connection;
  readonly isNow: boolean;
  readonly children: React.ReactNode;
}

function RunHead({ run, view, connection, isNow, children }: RunHeadProps) {
  const now = useNow(1_000);
  const status = isNow && view.sequence < 0 ? run.status : view.status;
  return (
    <header className="run-head">
      <p className="crumbs small">
        <a href="#/runs">Runs</a> /{' '}
        <a href={`#/workflows/${encodeURIComponent(run.workflowId)}`}>{run.workflowId}</a> {versionOf(run)}
      </p>
      <div className="row wrap">
        <h1>{run.workflowId}</h1>
        <Status status={status} />
        <ConnectionSign connection={connection} />
        {!isNow && <span className="status tone-wait">As of event {view.sequence}</span>}
        <div className="row wrap spread">{children}</div>
      </div>
      <dl className="facts">
        <Fact name="Run">
          <span className="mono">{run.runId}</span> <CopyButton label="Copy" text={() => run.runId} />
        </Fact>
        {view.startedAt !== undefined && <Fact name="Started">{timeText(view.startedAt)}</Fact>}
        {view.startedAt !== undefined && (
          <Fact name="Duration">
            {durationText((view.endedAt ?? (isNow ? now : (view.at ?? now))) - view.startedAt)}
          </Fact>
        )}
        {view.tokens > 0 && <Fact name="Tokens">{view.tokens.toLocaleString('en')}</Fact>}
        {view.usd !== undefined && <Fact name="Cost">${view.usd.toFixed(4)}</Fact>}
        {run.owner?.principal !== undefined && <Fact name="By">{run.owner.principal}</Fact>}
      </dl>
    </header>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ConnectionSign({ connection }: { readonly connection: Connection }) {
  if (connection.state === 'ended' || connection.state === 'failed') return null;
  const text = { loading: 'Loading', live: 'Live', reconnecting: 'Connection lost, trying again' }[
    connection.state
  ];
  return (
    <span className={`live-sign ${connection.state === 'reconnecting' ? 'lost' : ''}`} role="status">
      <i aria-hidden="true" />
      {text}
    </span>
  );
}

interface GraphPanelProps {
  readonly definition: WorkflowDefinition | undefined;
  readonly isLoading: boolean;
  readonly view: RunView;
  readonly onEvents: (key: string) => void;
}

function GraphPanel({ definition, isLoading, view, onEvents }: GraphPanelProps) {
  const [chosen, setChosen] = useState<string>();
  const graph = useMemo(() => (definition === undefined ? undefined : graphOf(definition)), [definition]);
  const states = useMemo(() => summariesOf(view.nodes.values()), [view]);
  if (graph === undefined)
    return isLoading ? (
      <Loading what="the workflow" />
    ) : (
      <Empty title="The workflow cannot be shown">
        <p>
          This host no longer has its definition, or your key may not read it. The timeline and the events are
          complete.
        </p>
      </Empty>
    );
  return (
    <div className={`graph-panel ${chosen === undefined ? '' : 'with-detail'}`}>
      <Boundary>
        <Suspense fallback={<Loading what="the graph" />}>
          <GraphView
            graph={graph}
            states={states}
            chosen={chosen}
            onChoose={(id) => setChosen(id === chosen ? undefined : id)}
          />
        </Suspense>
      </Boundary>
      {chosen !== undefined && (
        <NodePanel
          nodeId={chosen}
          definition={definition}
          view={view}
          onEvents={onEvents}
          onClose={() => setChosen(undefined)}
        />
      )}
    </div>
  );
}
