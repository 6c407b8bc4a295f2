import { type JsonObject, isJsonObject } from '@weft/protocol/plain';
import { type RunDocument, openInterruptsOf } from '@weft/sdk';
import { asTypedHere } from '../program-name.ts';
import { waitingText } from './question.ts';
import { type Style, paintStatus } from './style.ts';
import { renderFields, renderTable } from './table.ts';
import { betweenText } from './time-text.ts';
import { visibleText } from './terminal-text.ts';

interface NodeRow {
  readonly key: string;
  readonly state: JsonObject;
}

/** A snapshot for people: what it is, how far it came, what it holds. */
export function renderRunDetails(style: Style, run: RunDocument): string {
  const parts = [
    renderFields(style, [
      ['run', run.runId],
      ['workflow', workflowOf(run)],
      ['status', paintStatus(style, run.status)],
      ['at node', run.currentNodeId],
      ['started', run.startedAt],
      ['ended', run.completedAt],
      ['took', betweenText(run.startedAt, run.completedAt)],
      ['fork of', forkedFrom(run['weft'])],
      ['child of', text(run['parentRunId'])],
      ['started by', startedBy(run['weft'])],
      ['imported', importedFrom(run['weft'])],
      ['quarantined', quarantinedSince(style, run['weft'])],
      ['tags', run.tags === undefined || run.tags.length === 0 ? undefined : run.tags.join(', ')],
      [
        'error',
        run.error === undefined
          ? undefined
          : style.red(`${run.error.code}: ${visibleText(asTypedHere(run.error.message))}`),
      ],
    ]),
    openInterruptsOf(run).map(waitingText).join('\n'),
    childTable(style, run['childRuns']),
    nodeTable(style, run.nodeStates),
    section(style, 'Variables', run.variables),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function workflowOf({ workflowId, weft }: RunDocument): string {
  const version = isJsonObject(weft) ? text(weft['workflowVersion']) : undefined;
  return version === undefined ? workflowId : `${workflowId}@${version}`;
}

function forkedFrom(extras: unknown): string | undefined {
  const fork = isJsonObject(extras) ? extras['fork'] : undefined;
  if (!isJsonObject(fork)) return undefined;
  return `${String(fork['sourceRunId'])} from #${String(fork['fromSeq'])} (${String(fork['mode'])})`;
}

/** A schedule with the time that was due, or a trigger with the delivery. */
function startedBy(extras: unknown): string | undefined {
  const source = isJsonObject(extras) ? extras['source'] : undefined;
  if (!isJsonObject(source)) return undefined;
  const { kind, id, dueAt, deliveryId } = source;
  return visibleText(`${String(kind)}:${String(id)} (${text(dueAt) ?? text(deliveryId) ?? ''})`);
}

function childTable(style: Style, children: unknown): string {
  const rows = Array.isArray(children) ? children.filter(isJsonObject) : [];
  if (rows.length === 0) return '';
  return renderTable<JsonObject>(
    style,
    [
      { title: 'CHILD', value: (row) => text(row['runId']) ?? '' },
      { title: 'WORKFLOW', value: (row) => text(row['workflowId']) ?? '' },
      { title: 'STATUS', value: (row) => text(row['status']) ?? '' },
      { title: 'NODE', value: (row) => text(row['nodeId']) ?? '' },
    ],
    rows,
  );
}

/** Where it was executed, and whether the bundle could be checked. */
function importedFrom(extras: unknown): string | undefined {
  const origin = isJsonObject(extras) ? extras['imported'] : undefined;
  if (!isJsonObject(origin)) return undefined;
  const host = typeof origin['host'] === 'string' ? ` from ${origin['host']}` : '';
  const isVerified = origin['verified'] === true ? 'digest checked' : 'unverified';
  return visibleText(`${String(origin['runId'])}${host}, ${isVerified}`);
}

function quarantinedSince(style: Style, extras: unknown): string | undefined {
  const aside = isJsonObject(extras) ? extras['quarantined'] : undefined;
  if (!isJsonObject(aside)) return undefined;
  return style.red(visibleText(`since ${String(aside['since'])}: ${String(aside['reason'])}`));
}

function nodeTable(style: Style, states: JsonObject | undefined): string {
  const rows = Object.entries(states ?? {}).flatMap(([key, state]) =>
    isJsonObject(state) ? [{ key, state }] : [],
  );
  if (rows.length === 0) return '';
  return renderTable<NodeRow>(
    style,
    [
      { title: 'NODE', value: (row) => row.key },
      {
        title: 'STATUS',
        value: statusOf,
        paint: (text, row) => text.replace(statusOf(row), paintStatus(style, statusOf(row))),
      },
      {
        title: 'TOOK',
        value: (row) =>
          betweenText(text(row.state['startedAt']), text(row.state['endedAt'] ?? row.state['completedAt'])) ??
          '',
        align: 'right',
      },
      { title: 'NOTE', value: noteOf },
    ],
    rows,
  );
}

function statusOf(row: NodeRow): string {
  return text(row.state['status']) ?? '';
}

function noteOf(row: NodeRow): string {
  const error = row.state['error'];
  if (isJsonObject(error)) return `${text(error['code']) ?? ''}: ${text(error['message']) ?? ''}`;
  return text(row.state['reason']) ?? '';
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function section(style: Style, title: string, value: JsonObject | undefined): string {
  if (value === undefined || Object.keys(value).length === 0) return '';
  return `${style.dim(title)}\n${JSON.stringify(value, null, 2)}`;
}
