import { type Span, toIso } from '@weft/protocol';
import { toNumber, toText } from '../fold/to-plain.ts';
import { sha256Hex } from '../../crypto/hash.ts';
import { type Fact, isTerminalEvent, namedNode, type RunEvent } from '../../model/run-event.ts';
import { type CreationRecord, type NodeError, nodeKey } from '../../model/run-state.ts';
import { fromNanoUsd, toNanoUsd } from '../costs/money.ts';
import { utf8Bytes } from '../json/canonical-utf8-text.ts';

/**
 * Spans are read off the log: nothing measures them while a run is open. The run is one span, every attempt of a node
 * is one below it, every question a node asks is one below that attempt.
 *
 *   run:       creation ──► terminal event
 *   attempt:   node.started ──► completed | failed | retried | skipped | cancelled; it stays open while the node waits
 *   interrupt: node.suspended ──► interrupt.resolved, or the end of the attempt
 *
 * 1. The same log gives the same spans, ids included: they are made from run id and sequence.
 * 2. Spans stand in the order in which they began.
 * 3. Attributes are `openwop.*`, made from ids, types and numbers; no payload gets into them.
 */
export interface SpanProjection {
  see(event: RunEvent): void;
  /** In order of their beginning; those still open have no end. */
  spans(): readonly Span[];
  /** An upper bound of what the spans take as JSON, in bytes. */
  readonly size: number;
}

export function spansOf(record: CreationRecord, events: Iterable<RunEvent>): readonly Span[] {
  const projection = createSpanProjection(record);
  for (const event of events) projection.see(event);
  return projection.spans();
}

type OpenSpan = { -readonly [Member in keyof Span]: Span[Member] };

/** What an end can add to a span: its time and its status with a code. */
const END_SIZE = 64;
const MAX_CODE = 128;
/** What calls of models can add: names and numbers, and the provider, of at most 128 characters. */
const COST_SIZE = 1_280;

export function createSpanProjection(record: CreationRecord): SpanProjection {
  const trace = traceOf(record);
  const run = runSpan(record, trace);
  const all: OpenSpan[] = [run];
  const attempts = new Map<string, OpenSpan>();
  const interrupts = new Map<string, OpenSpan>();
  let size = sizeOf(run);

  function open(span: OpenSpan): OpenSpan {
    all.push(span);
    size += sizeOf(span);
    return span;
  }

  function close(span: OpenSpan | undefined, event: RunEvent, errorCode?: string): void {
    if (span === undefined) return;
    span.endedAt = toIso(event.at);
    span.status =
      errorCode === undefined ? { code: 'ok' } : { code: 'error', message: errorCode.slice(0, MAX_CODE) };
    size += END_SIZE + (errorCode === undefined ? 0 : Math.min(errorCode.length, MAX_CODE) * 6);
  }

  function endAttempt(key: string, event: RunEvent, errorCode?: string): void {
    close(interrupts.get(key), event, errorCode);
    interrupts.delete(key);
    close(attempts.get(key), event, errorCode);
    attempts.delete(key);
  }

  function see(event: RunEvent): void {
    if (isTerminalEvent(event.type)) return close(run, event, terminalCode(event));
    const key = keyOf(event);
    if (key === undefined) return;
    switch (event.type) {
      case 'node.started':
        attempts.set(key, open(attemptSpan(trace, run, event)));
        return;
      case 'node.suspended': {
        const parent = attempts.get(key) ?? run;
        interrupts.set(key, open(interruptSpan(trace, parent, event)));
        return;
      }
      case 'provider.usage': {
        const attempt = attempts.get(key);
        if (attempt === undefined) return;
        size += attempt.attributes['openwop.cost.provider'] === undefined ? COST_SIZE : 0;
        attempt.attributes = { ...attempt.attributes, ...costAttributes(attempt.attributes, event) };
        return;
      }
      case 'interrupt.resolved':
        close(interrupts.get(key), event);
        interrupts.delete(key);
        return;
      case 'node.completed':
      case 'node.skipped':
        return endAttempt(key, event);
      case 'node.cancelled':
        return endAttempt(key, event, 'cancelled');
      case 'node.failed':
        return endAttempt(key, event, codeOf(event.payload.error));
      case 'node.retried':
        return endAttempt(key, event, codeOf(event.payload.lastError));
      default: // other events neither begin nor end a span
    }
  }

  return {
    see,
    spans: () => all,
    get size() {
      return size;
    },
  };
}

interface Trace {
  readonly traceId: string;
  /** The caller's span, where the run was started within a trace. */
  readonly callerSpanId: string | null;
  /** By the sequence of the event that begins the span. */
  readonly spanId: (seq: number) => string;
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

export function traceOf(record: CreationRecord): Trace {
  const [, traceId, callerSpanId] = TRACEPARENT.exec(record.traceparent ?? '') ?? [];
  const spanId = spanIds(record);
  if (traceId !== undefined && callerSpanId !== undefined) return { traceId, callerSpanId, spanId };
  return { traceId: sha256Hex(`trace ${record.runId}`).slice(0, 32), callerSpanId: null, spanId };
}

/** One hash per run: its spans differ in the second half of their ids only. */
function spanIds(record: CreationRecord): (seq: number) => string {
  const half = sha256Hex(`spans ${record.runId}`).slice(0, 16);
  const [first, second] = [half.slice(0, 8), Number.parseInt(half.slice(8), 16)];
  return (seq) => first + ((second ^ seq) >>> 0).toString(16).padStart(8, '0');
}

function runSpan(record: CreationRecord, { traceId, callerSpanId, spanId }: Trace): OpenSpan {
  const { parent, fork } = record;
  return {
    name: 'openwop.run',
    traceId,
    // The run begins before its first event.
    spanId: spanId(-1),
    parentSpanId: callerSpanId,
    kind: 'internal',
    status: { code: 'unset' },
    startedAt: toIso(record.createdAt),
    endedAt: null,
    attributes: {
      'openwop.run_id': record.runId,
      'openwop.workflow_id': record.workflowId,
      'openwop.workflow_version': record.workflowVersion,
      'openwop.tenant_id': record.tenant,
      ...(parent !== undefined && {
        'openwop.parent.run_id': parent.runId,
        'openwop.parent.node_id': parent.nodeId,
        'openwop.parent.workflow_id': parent.ancestors.at(-1) ?? '',
      }),
      ...(fork !== undefined && {
        'openwop.replay.source_run_id': fork.sourceRunId,
        'openwop.replay.from_seq': fork.fromSeq,
        'openwop.replay.mode': fork.mode,
      }),
    },
  };
}

function attemptSpan(trace: Trace, run: OpenSpan, event: Fact<'node.started'>): OpenSpan {
  const { payload } = event;
  const typeId = typeof payload.typeId === 'string' ? payload.typeId : 'unknown';
  return {
    ...beginning(trace, run, event),
    name: `openwop.node.${typeId}`,
    attributes: {
      'openwop.node_id': keyOf(event) ?? '',
      'openwop.node_type': typeId,
      'openwop.node_attempt': toNumber(payload.attempt ?? 0),
      'openwop.event_seq': event.seq,
    },
  };
}

/** Of all calls of the attempt, under the names that the protocol has for costs and no others. */
function costAttributes(
  known: Span['attributes'],
  { payload }: Fact<'provider.usage'>,
): Record<string, string | number | boolean> {
  const sum = (name: string, more: unknown): number => toNumber(known[name] ?? 0) + toNumber(more ?? 0);
  const { inputTokens, outputTokens, totalTokens, costEstimateUsd: usd } = payload;
  const total = totalTokens ?? toNumber(inputTokens) + toNumber(outputTokens);
  return {
    'openwop.cost.tokens.input': sum('openwop.cost.tokens.input', inputTokens),
    'openwop.cost.tokens.output': sum('openwop.cost.tokens.output', outputTokens),
    'openwop.cost.tokens.total': sum('openwop.cost.tokens.total', total),
    'openwop.cost.provider': toText(payload.provider).slice(0, MAX_CODE),
    ...(usd !== undefined && {
      'openwop.cost.usd': fromNanoUsd(toNanoUsd(sum('openwop.cost.usd', usd))),
      'openwop.cost.currency': 'USD',
      'openwop.cost.estimated': true,
    }),
  };
}

function interruptSpan(trace: Trace, parent: OpenSpan, event: Fact<'node.suspended'>): OpenSpan {
  const { payload } = event;
  return {
    ...beginning(trace, parent, event),
    name: 'openwop.interrupt',
    attributes: {
      'openwop.node_id': keyOf(event) ?? '',
      'openwop.interrupt_kind': toText(payload.kind),
      'openwop.interrupt_id': toText(payload.interruptId),
      'openwop.event_seq': event.seq,
    },
  };
}

function beginning({ traceId, spanId }: Trace, parent: OpenSpan, event: RunEvent) {
  return {
    traceId,
    spanId: spanId(event.seq),
    parentSpanId: parent.spanId,
    kind: 'internal' as const,
    status: { code: 'unset' as const },
    startedAt: toIso(event.at),
    endedAt: null,
  };
}

/** Which execution the event is about: `work`, or `work[2]` inside a loop. */
function keyOf({ nodeId, payload }: RunEvent): string | undefined {
  const named = namedNode(payload);
  const id = nodeId ?? named.nodeId;
  if (typeof id !== 'string') return undefined;
  return Array.isArray(named.iteration) ? nodeKey(id, named.iteration) : id;
}

function terminalCode(event: RunEvent): string | undefined {
  if (event.type === 'run.cancelled') return 'cancelled';
  return event.type === 'run.failed' ? codeOf(event.payload.error) : undefined;
}

function codeOf(error: Partial<NodeError> | undefined): string {
  return typeof error?.code === 'string' ? error.code : 'unknown';
}

function sizeOf(span: Span): number {
  return utf8Bytes(JSON.stringify(span)) + 1;
}
