import type { RunUnit, StoredEvent, WriteUnit } from '@weft/engine';
import { dueAt, endsClaim, isNumbered, isUnconditional } from '@weft/engine/store-rules';
import { eventSum, overlaySum } from '../../checksum.ts';
import { batchUuid, isRunId } from '../runs/codec.ts';
import { FIRST_TERMINAL, statusNumber } from '../../status-number.ts';
import type { Origins, StoredRecord } from '../runs/origins.ts';
import { type Column, columnArrays, columnNames, type Statement, unnested } from '../runs/rows.ts';

/**
 * Most groups do nothing but begin runs and append to runs that are held: for them there is nothing to evaluate beforehand. Their one
 * statement writes each unit only where the run is as the unit expects it, and answers which units it left out.
 */

type Create = NonNullable<RunUnit['create']>;

interface RunInsert {
  readonly unit: RunUnit;
  readonly create: Create;
  readonly stored: StoredRecord;
}

/** The units when all of them are plain and about different runs; otherwise nothing. */
export function plainUnits(units: readonly WriteUnit[]): readonly RunUnit[] | undefined {
  const plain: RunUnit[] = [];
  const runs = new Set<string>();
  for (const unit of units) {
    if (unit.kind !== 'run' || !isPlain(unit)) return undefined;
    plain.push(unit);
    runs.add(unit.runId);
  }
  return runs.size === plain.length ? plain : undefined;
}

function isPlain(unit: RunUnit): boolean {
  return (
    unit.idempotency === undefined &&
    unit.whileHeld === undefined &&
    unit.audit === undefined &&
    unit.checkpoint === undefined &&
    unit.usage === undefined &&
    bringsNothing(unit) &&
    (unit.create === undefined || isPlainCreate(unit.create, unit.expectedSeq)) &&
    isRunId(unit.runId) &&
    isNumbered(unit)
  );
}

function bringsNothing({ documents, enqueue, wakes, consume, notify, outbox }: RunUnit): boolean {
  return (
    isEmpty(documents) &&
    isEmpty(enqueue) &&
    isEmpty(wakes) &&
    isEmpty(consume) &&
    isEmpty(notify) &&
    isEmpty(outbox)
  );
}

function isEmpty(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0;
}

/** It depends on no other run, and no other run on it. */
function isPlainCreate(create: Create, expectedSeq: number): boolean {
  const { record } = create;
  return (
    expectedSeq === 0 &&
    isUnconditional(create) &&
    record.fork === undefined &&
    record.parent === undefined &&
    record.tags.length === 0 &&
    record.source === undefined
  );
}

const headColumns: readonly Column<RunUnit>[] = [
  ['status', 'smallint', ({ head }) => statusNumber(head.status)],
  ['next_seq', 'int', ({ expectedSeq, events }) => expectedSeq + events.length],
  ['wake_at', 'bigint', ({ head }) => head.wakeAt],
  ['started_at', 'bigint', ({ head }) => head.startedAt ?? null],
  ['ended_at', 'bigint', ({ head }) => head.endedAt ?? null],
  ['node', 'text', ({ head }) => head.currentNodeId ?? null],
  ['error', 'text', ({ head }) => head.errorCode ?? null],
  ['last_batch', 'uuid', ({ batchId }) => batchUuid(batchId)],
];

const insertColumns: readonly Column<RunInsert>[] = [
  ['id', 'uuid', ({ unit }) => unit.runId],
  ['tenant', 'text', ({ create }) => create.record.tenant],
  ['workflow', 'text', ({ create }) => create.record.workflowId],
  ['created_at', 'bigint', ({ create }) => create.record.createdAt],
  ['scope', 'text', ({ create }) => create.record.scopeId ?? null],
  ['origin', 'int', ({ stored }) => stored.origin],
  ['record', 'json', ({ stored }) => stored.record],
  ['sum', 'int', ({ stored }) => stored.sum],
  ['epoch', 'int', ({ create }) => (create.holder === undefined ? 0 : 1)],
  ['holder', 'text', ({ unit, create }) => (endsClaim(unit) ? null : (create.holder ?? null))],
  ['due_at', 'bigint', ({ unit }) => dueAt(unit.head, 0)],
  ...headColumns.map(([name, type, read]): Column<RunInsert> => [name, type, ({ unit }) => read(unit)]),
];

const appendColumns: readonly Column<RunUnit>[] = [
  ['id', 'uuid', ({ runId }) => runId],
  ['epoch', 'int', ({ epoch }) => epoch],
  ['expected_seq', 'int', ({ expectedSeq }) => expectedSeq],
  ['lets_go', 'boolean', (unit) => endsClaim(unit)],
  ...headColumns,
];

interface Entry {
  readonly run: string;
  readonly event: StoredEvent;
}

export const eventColumns: readonly Column<Entry>[] = [
  ['run', 'uuid', ({ run }) => run],
  ['seq', 'int', ({ event }) => event.seq],
  ['cause', 'int', ({ event }) => event.causeSeq ?? null],
  ['at', 'bigint', ({ event }) => event.at],
  ['type', 'text', ({ event }) => event.type],
  ['node', 'text', ({ event }) => event.nodeId ?? null],
  ['payload', 'json', ({ event }) => event.payload],
  ['overlay', 'json', ({ event }) => event.overlay ?? null],
  ['sum', 'int', ({ run, event }) => eventSum(run, event)],
  [
    'overlay_sum',
    'int',
    ({ run, event: { seq, overlay } }) => (overlay === undefined ? null : overlaySum(run, seq, overlay)),
  ],
];

/** Restates creationRejection for a creation without conditions. */
const insertNewRuns = (first: number) => `created AS (
  INSERT INTO runs (${columnNames(insertColumns)}, inbox, accepted)
  SELECT *, 0, 0 FROM ${unnested(insertColumns, first)} ON CONFLICT (id) DO NOTHING RETURNING id)`;

/** Restates appendRejection: what a unit is refused for is here what its run is looked for by. And dueAt, with what waits in the inbox. */
const updateHeads = (first: number) => `moved AS (
  UPDATE runs SET ${headColumns.map(([name]) => `${name} = unit.${name}`).join(', ')},
    holder = CASE WHEN unit.lets_go THEN NULL ELSE runs.holder END,
    due_at = CASE WHEN unit.status >= ${FIRST_TERMINAL} THEN NULL WHEN runs.inbox > 0 THEN 0 ELSE unit.wake_at END
  FROM ${unnested(appendColumns, first)} AS unit (${columnNames(appendColumns)})
  WHERE runs.id = unit.id AND runs.epoch = unit.epoch AND runs.next_seq = unit.expected_seq
    AND runs.status < ${FIRST_TERMINAL} AND runs.holder IS NOT NULL
  RETURNING runs.id)`;

interface Parts {
  readonly inserts: boolean;
  readonly appends: boolean;
}

/** Answers the ids of the runs whose units were left out. */
function statementText({ inserts, appends }: Parts): string {
  const afterInserts = inserts ? insertColumns.length : 0;
  const afterAppends = afterInserts + (appends ? appendColumns.length : 0);
  const written = [inserts ? 'TABLE created' : '', appends ? 'TABLE moved' : ''].filter(Boolean);
  const asked = [inserts ? '$1::uuid[]' : '', appends ? `$${afterInserts + 1}::uuid[]` : ''].filter(Boolean);
  const steps = [
    ...(inserts ? [insertNewRuns(1)] : []),
    ...(appends ? [updateHeads(afterInserts + 1)] : []),
    `written (id) AS (${written.join(' UNION ALL ')})`,
    `logged AS (INSERT INTO events (${columnNames(eventColumns)})
       SELECT * FROM ${unnested(eventColumns, afterAppends + 1)} AS entry (${columnNames(eventColumns)})
       WHERE run IN (SELECT id FROM written))`,
  ];
  return `WITH ${steps.join(', ')}
    SELECT id FROM unnest(${asked.join(' || ')}) AS asked (id) WHERE id NOT IN (SELECT id FROM written)`;
}

const ONLY_INSERTS = statementText({ inserts: true, appends: false });
const ONLY_APPENDS = statementText({ inserts: false, appends: true });
const BOTH = statementText({ inserts: true, appends: true });

export function plainStatement(units: readonly RunUnit[], origins: Origins): Statement {
  const inserts: RunInsert[] = [];
  const appends: RunUnit[] = [];
  const entries: Entry[] = [];
  for (const unit of units) {
    const { create } = unit;
    if (create === undefined) appends.push(unit);
    else inserts.push({ unit, create, stored: origins.stored(create.record) });
    for (const event of unit.events) entries.push({ run: unit.runId, event });
  }
  // Locked in the order in which other groups lock runs, so that two of them wait for each other in one direction only.
  appends.sort((a, b) => (a.runId < b.runId ? -1 : 1));
  const log = columnArrays(eventColumns, entries);
  if (appends.length === 0)
    return { text: ONLY_INSERTS, values: [...columnArrays(insertColumns, inserts), ...log] };
  const heads = columnArrays(appendColumns, appends);
  if (inserts.length === 0) return { text: ONLY_APPENDS, values: [...heads, ...log] };
  return { text: BOTH, values: [...columnArrays(insertColumns, inserts), ...heads, ...log] };
}
