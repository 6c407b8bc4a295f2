import { lazy, Suspense, useContext, useMemo, useState } from 'react';
import { isTerminalStatus, type RunEventDocument } from '@weft/sdk';
import { changeQuery, SignedContext, useEvery, useLoaded, useRoute } from '../app/hooks.ts';
import { useFoldedGraph } from '../graph/use-folded-graph.ts';
import { type Usage, usageAt, usdText } from '../run/usage.ts';
import { Empty, Loading, Problem } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { durationText } from '../ui/time-text.ts';
import type { OpenedBundle } from './bundle-file.ts';
import { ChangeTable } from './change-table.tsx';
import { alignedRows, type AlignedRow, marksOf, type StrictDiff } from './comparison.ts';
import { DifferenceList } from './difference-list.tsx';
import { type Compared, createComparer, MAX_EVENTS, type Side } from './load-comparison.ts';
import { SidePicker } from './side-picker.tsx';

const GraphView = lazy(async () => ({ default: (await import('../graph/graph-view.tsx')).GraphView }));

const TABS = {
  aligned: 'By node',
  strict: 'Protocol diff',
  graph: 'Graph',
  state: 'State at the end',
} as const;
type Tab = keyof typeof TABS;

type Files = Readonly<Partial<Record<'a' | 'b', OpenedBundle>>>;

/** Two runs, a run and a file, or two files. Files never leave the page, and need no host. */
export function ComparePage() {
  const client = useContext(SignedContext)?.client;
  const { query } = useRoute();
  const [files, setFiles] = useState<Files>({});
  const { a, b } = query;
  const chosen = [files.a ?? a, files.b ?? b].filter((side) => side !== undefined);
  const [first, second] = chosen;
  const comparer = useMemo(() => createComparer(client), [client]);
  const [compared, reload] = useLoaded(
    async () =>
      first === undefined || second === undefined ? undefined : await comparer.compare([first, second]),
    [a, b, files.a?.runId, files.b?.runId],
  );
  const { value } = compared;
  const isActive = value !== undefined && [value.a, value.b].some(({ run }) => !isTerminalStatus(run.status));
  useEvery(REFRESH_MS, () => isActive && chosen.every((side) => typeof side === 'string') && reload());
  const picker = (name: 'a' | 'b') => ({
    name,
    client,
    runId: query[name],
    file: files[name],
    side: value?.[name],
    onRun: (runId: string) => {
      const { [name]: _dropped, ...others } = files;
      setFiles(others);
      changeQuery({ [name]: runId });
    },
    onFile: (file: OpenedBundle) => {
      setFiles({ ...files, [name]: file });
      changeQuery({ [name]: undefined });
    },
  });
  return (
    <div className="page">
      <header className="page-head">
        <h1>Compare</h1>
        {client === undefined && (
          <a className="small" href="#/runs">
            Sign in
          </a>
        )}
        {isActive && (
          <span className="live-sign" role="status">
            <i aria-hidden="true" /> Live
          </span>
        )}
      </header>
      <div className="sides">
        <SidePicker {...picker('a')} />
        <SidePicker {...picker('b')} />
      </div>
      {compared.state === 'failed' && <Problem error={compared.error} onRetry={reload} />}
      {chosen.length < 2 ? (
        <Empty title="Choose two runs">
          <p>
            Choose runs of this host, or drop bundles that <code>weft bundle</code> wrote. Files stay in this
            page.
          </p>
        </Empty>
      ) : (
        compared.state === 'loading' && <Loading what="both runs" />
      )}
      {value !== undefined && <Views compared={value} />}
    </div>
  );
}

const REFRESH_MS = 2_000;

function Views({ compared }: { readonly compared: Compared }) {
  const [tab, setTab] = useState<Tab>('aligned');
  return (
    <>
      <Verdict compared={compared} />
      <Tabs label="Views of the comparison" names={TABS} chosen={tab} onChoose={setTab} />
      <div className="panel" role="tabpanel" aria-label={TABS[tab]}>
        <View tab={tab} compared={compared} />
      </div>
    </>
  );
}

function View({ tab, compared: { a, b, strict, rows } }: { readonly tab: Tab; readonly compared: Compared }) {
  switch (tab) {
    case 'aligned':
      return (
        <div className="stack">
          <p className="muted small">
            Events are paired by node, type and occurrence, so that one too many shifts nothing. This is not
            the protocol’s comparison.
          </p>
          <DifferenceList
            rows={rows.filter(({ op }) => op !== 'same')}
            empty="Paired by node, nothing differs."
          />
        </div>
      );
    case 'strict':
      return (
        <div className="stack">
          <p className="muted small">
            The protocol’s comparison: event by event, by sequence alone. After one event too many, everything
            that follows differs.
          </p>
          <DifferenceList rows={strict.differences.map(strictRow)} empty="The logs are equal." />
        </div>
      );
    case 'graph':
      return <ComparedGraph a={a} b={b} rows={rows} />;
    case 'state':
      return <ChangeTable changes={strict.stateChanges} a="a" b="b" />;
  }
}

function strictRow({ seq, op, aEvent, bEvent }: StrictDiff['differences'][number]): AlignedRow {
  const changes =
    aEvent === undefined || bEvent === undefined
      ? []
      : (alignedRows([{ ...aEvent, type: '' }], [{ ...bEvent, type: '' }])[0]?.changes ?? []);
  const types = [...new Set([aEvent?.type, bEvent?.type])].filter((type) => type !== undefined);
  return {
    op,
    place: aEvent?.nodeId ?? bEvent?.nodeId,
    type: types.join(' → '),
    ...(aEvent !== undefined && { aEvent: { ...aEvent, sequence: seq } }),
    ...(bEvent !== undefined && { bEvent: { ...bEvent, sequence: seq } }),
    changes,
  };
}

function ComparedGraph({
  a,
  b,
  rows,
}: {
  readonly a: Side;
  readonly b: Side;
  readonly rows: readonly AlignedRow[];
}) {
  const definition = b.definition ?? a.definition;
  const [graph, folding] = useFoldedGraph(definition);
  const marks = useMemo(() => marksOf(rows), [rows]);
  const [chosen, setChosen] = useState<string>();
  if (graph === undefined)
    return <Empty title="Neither side brings its workflow">The other views are complete.</Empty>;
  return (
    <div className="stack">
      <ul className="legend small muted">
        <li>plain: the same, or not reached</li>
        <li className="tone-wait tag">changed</li>
        <li className="a-side">only in a</li>
        <li className="b-side">only in b</li>
      </ul>
      <Suspense fallback={<Loading what="the graph" />}>
        <GraphView graph={graph} marks={marks} chosen={chosen} onChoose={setChosen} folding={folding} />
      </Suspense>
      {chosen !== undefined && (
        <DifferenceList
          rows={rows.filter(({ op, place }) => op !== 'same' && place?.replace(/\[.*$/, '') === chosen)}
          empty={`Node ${chosen} did the same in both.`}
        />
      )}
    </div>
  );
}

function Verdict({ compared: { a, b, strict, rows } }: { readonly compared: Compared }) {
  const isEqual = strict.divergedAtSeq === null && strict.stateChanges.length === 0;
  const differing = rows.filter(({ op }) => op !== 'same');
  const isActive = !isTerminalStatus(a.run.status) || !isTerminalStatus(b.run.status);
  const costs = [a, b].map(({ events }) => usageAt(events, events.length).total) as [Usage, Usage];
  const isCut = a.isCut || b.isCut || strict.isCut;
  return (
    <section className={`verdict ${isEqual ? 'equal' : 'differs'}`} aria-label="Verdict">
      <h2>{verdictText(strict, isEqual)}</h2>
      <p className="small">
        {strict.differences.length.toLocaleString('en')} events differ by sequence,{' '}
        {differing.length.toLocaleString('en')} when paired by node; {strict.stateChanges.length}{' '}
        {strict.stateChanges.length === 1 ? 'field of the state differs' : 'fields of the state differ'}.
        Time: <span className="a-side">{lengthOf(a)}</span> and <span className="b-side">{lengthOf(b)}</span>
        {costs.some((cost) => cost.calls > 0) && (
          <>
            ; models: <span className="a-side">{usageText(costs[0])}</span> and{' '}
            <span className="b-side">{usageText(costs[1])}</span>
          </>
        )}
        .{isActive && ' A run is still active: what there is so far is compared.'}
      </p>
      {isCut && (
        <p className="notice" role="status">
          These logs are long: the first {MAX_EVENTS.toLocaleString('en')} events of each are compared here at
          most. All of them are compared by{' '}
          <code>
            weft diff {a.run.runId} {b.run.runId}
          </code>
          .
        </p>
      )}
    </section>
  );
}

function usageText({ inputTokens, outputTokens, usd }: Usage): string {
  const tokens = `${(inputTokens + outputTokens).toLocaleString('en')} tokens`;
  return usd === undefined ? tokens : `${tokens}, ${usdText(usd)}`;
}

function verdictText({ differences: [first] }: StrictDiff, isEqual: boolean): string {
  if (isEqual) return 'No difference';
  if (first === undefined) return 'The logs are equal, the states differ';
  const [a, b] = [eventText(first.aEvent), eventText(first.bEvent)];
  return `They part at event ${first.seq}: ${a === b ? a : `${a} in a, ${b} in b`}`;
}

function eventText(event: RunEventDocument | undefined): string {
  return event === undefined ? 'nothing' : `${event.type}${nodeText(event)}`;
}

function nodeText(event: RunEventDocument | undefined): string {
  return event?.nodeId === undefined ? '' : ` of ${event.nodeId}`;
}

function lengthOf({ events }: Side): string {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) return '–';
  return durationText(Date.parse(last.timestamp) - Date.parse(first.timestamp));
}
