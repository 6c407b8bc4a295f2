import { useEffect, useMemo, useState } from 'react';
import { isJsonObject, type JsonObject } from '@weft/protocol/plain';
import { ApiError, isTerminalStatus, openInterruptsOf, type RunDocument } from '@weft/sdk';
import { changeQuery, useLoaded, useNow, useRoute, useSigned } from '../app/hooks.ts';
import { may } from '../app/session.ts';
import { QuestionCard } from '../inbox/question-card.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { durationText, timeText } from '../ui/time-text.ts';
import { type Connection, type FollowedLog, useFollowedLog } from './follow-log.ts';
import { ForkDialog } from './fork-dialog.tsx';
import { RunActions } from './run-actions.tsx';
import type { RunView } from './run-fold.ts';
import { RunPanel, type Tab, TABS } from './run-panel.tsx';
import { TimeSlider } from './time-slider.tsx';
import { usdText } from './usage.ts';

export function RunPage({ runId }: { readonly runId: string }) {
  const { client, session } = useSigned();
  const { query } = useRoute();
  const log = useFollowedLog(client, runId);
  const { history, length, connection } = log;
  const [at, setAt] = useMoment(query['at']);
  const { newest, view } = useViews(log, at);
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
  const status = isLoading(log, newest) ? run.value.status : newest.status;
  const questions = isNow && may(session, 'approvals:respond') ? openInterruptsOf(run.value) : [];
  const onFork = may(session, 'runs:create')
    ? (fromSeq?: number) => setFork(fromSeq === undefined ? {} : { fromSeq })
    : undefined;
  return (
    <div className="page run-page">
      <RunHead run={run.value} view={view} connection={connection} isNow={isNow}>
        <RunActions
          run={run.value}
          status={status}
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
        isActive={!isTerminalStatus(status)}
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
        run={run.value}
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

/** Until all events are here, the document knows more than they do. */
function isLoading({ connection }: Pick<FollowedLog, 'connection'>, { sequence }: RunView): boolean {
  return connection.state === 'loading' || sequence < 0;
}

/** The run as it is, and as it was at the moment that is looked at. */
function useViews(
  { history, length }: FollowedLog,
  at: number | undefined,
): Record<'newest' | 'view', RunView> {
  const newest = useMemo(() => history.latest(), [history, length]);
  const known = at === undefined ? 0 : Math.min(at, length);
  const past = useMemo(() => (at === undefined ? undefined : history.viewAt(at)), [history, at, known]);
  return { newest, view: past ?? newest };
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
  const isShort = isNow && isLoading({ connection }, view);
  const end = view.endedAt ?? (isNow ? now : view.at);
  return (
    <header className="run-head">
      <p className="crumbs small">
        <a href="#/runs">Runs</a> /{' '}
        <a href={`#/workflows/${encodeURIComponent(run.workflowId)}`}>{run.workflowId}</a> {versionOf(run)}
      </p>
      <div className="row wrap">
        <h1>{run.workflowId}</h1>
        <Status status={isShort ? run.status : view.status} />
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
          <Fact name="Duration">{isShort ? '…' : durationText((end ?? now) - view.startedAt)}</Fact>
        )}
        {view.tokens > 0 && <Fact name="Tokens">{view.tokens.toLocaleString('en')}</Fact>}
        {view.usd !== undefined && <Fact name="Cost">{usdText(view.usd)}</Fact>}
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
