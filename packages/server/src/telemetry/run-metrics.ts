import type { CreationRecord, Observer } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { isJsonObject } from '@weft/protocol';
import type { Registry } from './registry.ts';
import { registerRunFamilies } from './run-families.ts';
import { createNodeSeries, createWorkflowSeries, type RunEnd } from './series-cache.ts';

/**
 * The protocol's metrics of runs, nodes, questions and model calls, counted from what becomes durable. How long something
 * took is the time between two events; the first of them is remembered while the run is open.
 *
 * 1. No label holds an id of a run, nor a tenant: where the protocol asks for the tenant, it is `all`.
 * 2. What began in another process, or before a restart, is counted but not timed.
 */
export type RunObserver = Observer['committed'];

type Observed = Parameters<RunObserver>[1][number];

/** A running node. */
interface Begun {
  readonly at: number;
  readonly type: string;
  /** The provider of the model that the node has called. */
  provider?: string;
  /** The question that waits for its answer. */
  asked?: { readonly at: number; readonly kind: string } | undefined;
}

interface OpenRun {
  /** By node key. */
  readonly begun: Map<string, Begun>;
  decisions: number;
}

const ALL = 'all';
const UNKNOWN = 'unknown';
/** Runs remembered at the same time; the oldest are forgotten first. */
const MAX_OPEN_RUNS = 20_000;
const RUN_ENDS: Readonly<Record<string, RunEnd | undefined>> = {
  'run.completed': 'completed',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

export function createRunMetrics(registry: Registry): RunObserver {
  const metrics = registerRunFamilies(registry);
  const seriesOfWorkflow = createWorkflowSeries(metrics);
  const seriesOfNode = createNodeSeries(metrics);
  const openRuns = new Map<string, OpenRun>();
  /** For a run that is not remembered yet: most are over within one write, and the next run takes it. */
  let scratch: OpenRun = { begun: new Map(), decisions: 0 };

  function seen(record: CreationRecord, run: OpenRun, event: Observed): void {
    switch (event.type) {
      case 'run.started':
        return seriesOfWorkflow(record.workflowId).backlog((event.at - record.createdAt) / 1_000);
      case 'node.started':
        run.begun.set(keyOf(event), { at: event.at, type: textField(event.payload, TYPE_ID) });
        return;
      case 'node.completed':
        return nodeEnded(run, event, 'completed', true);
      case 'node.failed':
        return nodeEnded(run, event, 'failed', true);
      case 'node.cancelled':
        return nodeEnded(run, event, 'cancelled', true);
      case 'node.retried':
        return nodeEnded(run, event, 'failed', false);
      case 'interrupt.requested':
        return asked(run, event);
      case 'interrupt.resolved': {
        const how = event.payload.includes('"reason":"timeout"') ? 'timeout' : 'resolved';
        return answered(run.begun.get(keyOf(event)), event.at, how);
      }
      case 'provider.usage':
        return usage(run, event);
      case 'runOrchestrator.decided':
        run.decisions += 1;
        metrics.decisions.add(1, decisionKind(parsed(event)), record.workflowId, ALL);
        return;
      case 'cap.breached':
        return metrics.capExceeded.add(1, textField(event.payload, KIND));
      default: // other events are not counted
    }
  }

  function nodeEnded(run: OpenRun, event: Observed, status: RunEnd, isLast: boolean): void {
    const key = keyOf(event);
    const begun = run.begun.get(key);
    const type = begun?.type ?? UNKNOWN;
    const series = seriesOfNode(type);
    if (isLast) series[status].ended(1);
    else metrics.nodeAttempts.add(1, type);
    if (begun === undefined) return;
    run.begun.delete(key);
    if (begun.asked !== undefined) answered(begun, event.at, 'cancelled');
    const seconds = (event.at - begun.at) / 1_000;
    series[status].duration(seconds);
    const outcome = status === 'completed' ? 'success' : 'error';
    if (begun.provider !== undefined) {
      metrics.activityInvocations.add(1, begun.provider, outcome);
      metrics.activityDuration.observe(seconds, begun.provider, outcome);
    } else if (series.activity !== undefined) {
      series.activity[outcome].ended(1);
      series.activity[outcome].duration(seconds);
    }
  }

  function asked(run: OpenRun, event: Observed): void {
    const kind = textField(event.payload, KIND);
    metrics.interruptRequested.add(1, kind);
    const begun = run.begun.get(keyOf(event));
    if (begun !== undefined) begun.asked = { at: event.at, kind };
  }

  function answered(begun: Begun | undefined, at: number, status: string): void {
    if (begun?.asked === undefined) return;
    metrics.interruptDuration.observe((at - begun.asked.at) / 1_000, begun.asked.kind, status);
    begun.asked = undefined;
  }

  function usage(run: OpenRun, event: Observed): void {
    const { provider, inputTokens, outputTokens } = parsed(event);
    if (typeof provider !== 'string') return;
    const begun = run.begun.get(keyOf(event));
    if (begun !== undefined) begun.provider = provider;
    if (typeof inputTokens === 'number') metrics.tokens.add(inputTokens, provider, 'input');
    if (typeof outputTokens === 'number') metrics.tokens.add(outputTokens, provider, 'output');
  }

  function ended(record: CreationRecord, run: OpenRun, end: RunEnd, at: number): void {
    const series = seriesOfWorkflow(record.workflowId)[end];
    series.ended(1);
    series.duration((at - record.createdAt) / 1_000);
    if (run.decisions > 0) metrics.iterations.observe(run.decisions, record.workflowId, ALL);
    if (run !== scratch) openRuns.delete(record.runId);
  }

  function remember(runId: string, run: OpenRun): void {
    const isIdle = run.begun.size === 0 && run.decisions === 0;
    if (run !== scratch) {
      if (isIdle) openRuns.delete(runId);
      return;
    }
    if (isIdle) return;
    openRuns.set(runId, run);
    scratch = { begun: new Map(), decisions: 0 };
    if (openRuns.size <= MAX_OPEN_RUNS) return;
    for (const oldest of openRuns.keys()) {
      openRuns.delete(oldest);
      return;
    }
  }

  return (record, events, isNew) => {
    if (isNew) {
      seriesOfWorkflow(record.workflowId).created(1);
      if (events.length === 0) metrics.enqueued.add(1, ALL);
    }
    const last = events[events.length - 1];
    if (last === undefined) return;
    const run = openRuns.get(record.runId) ?? scratch;
    for (const event of events) seen(record, run, event);
    const end = RUN_ENDS[last.type];
    if (end === undefined) remember(record.runId, run);
    else ended(record, run, end, last.at);
    if (scratch.begun.size > 0 || scratch.decisions > 0) scratch = { begun: new Map(), decisions: 0 };
  };
}

const NODE_ID = '{"nodeId":"",'.length;

/** Node id, with the place inside loops: payloads about a node begin with both. */
function keyOf({ nodeId = '', payload }: Observed): string {
  const at = nodeId.length + NODE_ID;
  if (!payload.startsWith('"iteration":[', at)) return nodeId;
  return nodeId + payload.slice(at, payload.indexOf(']', at));
}

const TYPE_ID = '"typeId":"';
const KIND = '"kind":"';

/** A text member of a payload that the host itself has written, found without parsing the rest. */
function textField(payload: string, mark: string): string {
  const from = payload.indexOf(mark);
  if (from === -1) return UNKNOWN;
  const start = from + mark.length;
  return payload.slice(start, payload.indexOf('"', start));
}

function parsed({ payload }: Observed): JsonObject {
  return JSON.parse(payload) as JsonObject;
}

function decisionKind({ decision }: JsonObject): string {
  const kind = isJsonObject(decision) ? decision['kind'] : undefined;
  return typeof kind === 'string' ? kind : UNKNOWN;
}
