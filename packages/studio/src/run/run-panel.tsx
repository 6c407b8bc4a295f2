import { type ReactNode, useState } from 'react';
import type { RunDocument, WorkflowDefinition } from '@weft/sdk';
import { changeQuery, type Loaded } from '../app/hooks.ts';
import { AnnotationsPanel } from './annotations-panel.tsx';
import { ArtifactsPanel } from './artifacts-panel.tsx';
import { CostPanel } from './cost-panel.tsx';
import { EventLog } from './event-log.tsx';
import type { FollowedLog } from './follow-log.ts';
import { GraphPanel } from './graph-panel.tsx';
import { LogsPanel } from './logs-panel.tsx';
import type { RunView } from './run-fold.ts';
import { StatePanel } from './state-panel.tsx';
import { TimelinePanel } from './timeline-panel.tsx';

export const TABS = {
  graph: 'Graph',
  timeline: 'Timeline',
  events: 'Events',
  state: 'State',
  logs: 'Logs',
  cost: 'Cost',
  artifacts: 'Artifacts',
  annotations: 'Annotations',
} as const;
export type Tab = keyof typeof TABS;

interface RunPanelProps {
  readonly tab: Tab;
  readonly run: RunDocument;
  readonly log: FollowedLog;
  /** The moment that is looked at; undefined is now. */
  readonly at: number | undefined;
  readonly view: RunView;
  readonly definition: Loaded<WorkflowDefinition | undefined>;
  readonly onMove: (at: number | undefined) => void;
  readonly onFork: ((sequence: number) => void) | undefined;
}

interface Shown extends RunPanelProps {
  /** Place of the last event that is shown. */
  readonly place: number;
  /** The node that events are filtered by. */
  readonly node: string;
  readonly onNode: (node: string) => void;
  readonly showEvents: (key: string) => void;
}

export function RunPanel(props: RunPanelProps) {
  const [node, setNode] = useState('');
  const { tab, at, log } = props;
  const showEvents = (key: string): void => {
    setNode(key);
    changeQuery({ tab: 'events' });
  };
  return (
    <div className="panel" role="tabpanel" aria-label={TABS[tab]}>
      {PANELS[tab]({ ...props, place: at ?? log.length - 1, node, onNode: setNode, showEvents })}
    </div>
  );
}

const PANELS: Readonly<Record<Tab, (shown: Shown) => ReactNode>> = {
  graph: ({ definition, view, showEvents }) => (
    <GraphPanel
      definition={definition.value}
      isLoading={definition.state === 'loading'}
      view={view}
      onEvents={showEvents}
    />
  ),
  timeline: ({ log: { history, length }, at, view, showEvents }) => (
    <TimelinePanel
      events={history.events}
      length={length}
      sequence={view.sequence}
      at={view.at}
      endedAt={at === undefined ? view.endedAt : view.at}
      onNode={showEvents}
    />
  ),
  events: ({ log: { history, length }, place, node, onNode, onMove, onFork }) => (
    <EventLog
      events={history.events}
      length={length}
      at={place}
      node={node}
      onNode={onNode}
      onGoTo={(index) => onMove(index >= length - 1 ? undefined : index)}
      {...(onFork !== undefined && { onFork })}
    />
  ),
  state: ({ run, view }) => <StatePanel runId={run.runId} sequence={view.sequence} outputs={view.outputs} />,
  logs: ({ log: { history, length }, place }) => (
    <LogsPanel events={history.events} length={length} at={place} />
  ),
  cost: ({ run, log: { history, length }, place }) => (
    <CostPanel run={run} events={history.events} length={length} at={place} />
  ),
  artifacts: ({ run, log, at, view }) => (
    <ArtifactsPanel
      runId={run.runId}
      until={at === undefined ? undefined : view.at}
      sequence={view.endedAt === undefined ? log.length : -1}
    />
  ),
  annotations: ({ run, definition }) => (
    <AnnotationsPanel runId={run.runId} nodes={(definition.value?.nodes ?? []).map(({ id }) => id)} />
  ),
};
