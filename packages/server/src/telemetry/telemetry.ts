import { randomUUID } from 'node:crypto';
import { type CreationRecord, type Egress, type Host, isTerminalEvent, type Log } from '@weft/engine';
import { createHostMetrics } from './host-metrics.ts';
import { encodeMetrics } from './otlp-json.ts';
import { createPost, type OtlpTarget } from './otlp-post.ts';
import { renderPrometheus } from './prometheus.ts';
import { createRegistry, type Registry } from './registry.ts';
import { createRunMetrics } from './run-metrics.ts';
import { createSpanExporter, type SpanExporter, type SpanExporterOptions } from './span-exporter.ts';

/** What a host reports about itself: metrics on request, and spans and metrics to a collector if there is one. */
export interface Telemetry {
  /** Prometheus text format 0.0.4. */
  metrics(): Promise<string>;
  /** Sends what is left, but waits no longer than this. */
  stop(graceMs: number): Promise<void>;
}

export interface TelemetryOptions {
  readonly host: Host;
  readonly version: string;
  readonly log: Log;
  readonly otlp?: OtlpOptions;
}

export interface OtlpOptions extends OtlpTarget, Pick<SpanExporterOptions, 'maxQueuedRuns' | 'retryMs'> {
  /** The way out; the collector must be allowed there. */
  readonly egress: Egress;
  readonly metricsEveryMs?: number;
  /** Share of the runs without a caller's trace whose spans are sent, 0..1. */
  readonly sampleRatio?: number;
}

interface Exporter {
  /** Brings the counters of spans up to date. */
  readonly count: () => void;
  readonly spans: SpanExporter;
  readonly isSampled: (record: CreationRecord) => boolean;
  stop(graceMs: number): Promise<void>;
}

const METRICS_EVERY_MS = 10_000;

export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { host } = options;
  const registry = createRegistry();
  const countRun = createRunMetrics(registry);
  const hostMetrics = createHostMetrics(registry, host);
  const exporter =
    options.otlp === undefined
      ? undefined
      : startExporter(options, options.otlp, registry, hostMetrics.refresh);
  const unobserve = host.operations.observe({
    ...hostMetrics,
    committed(record, events, isNew) {
      countRun(record, events, isNew);
      const last = events.at(-1);
      if (exporter === undefined || last === undefined || !isTerminalEvent(last.type)) return;
      if (exporter.isSampled(record)) exporter.spans.ended(record.runId);
    },
  });
  return {
    async metrics() {
      await hostMetrics.refresh();
      exporter?.count();
      return renderPrometheus(registry.read());
    },
    async stop(graceMs) {
      unobserve();
      await exporter?.stop(graceMs);
    },
  };
}

function startExporter(
  { host, log, version }: TelemetryOptions,
  otlp: OtlpOptions,
  registry: Registry,
  refresh: () => Promise<void>,
): Exporter {
  const closing = new AbortController();
  const sender = { version, instance: randomUUID() };
  const startedAt = Date.now();
  const post = createPost({ target: otlp, egress: otlp.egress, log, signal: closing.signal });
  const spans = createSpanExporter({ ...otlp, host: host.operations, post, sender, log });
  const count = createSpanCounters(registry, spans);

  async function sendMetrics(): Promise<void> {
    await refresh();
    count();
    // Not tried again: the next ones hold everything that these do.
    await post('metrics', encodeMetrics(sender, registry.read(), { startedAt, now: Date.now() }));
  }

  let sending: Promise<void> | undefined;
  const timer = setInterval(() => {
    sending ??= sendMetrics()
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : 'unknown';
        log('warn', { why }, 'metrics cannot be sent');
      })
      .finally(() => {
        sending = undefined;
      });
  }, otlp.metricsEveryMs ?? METRICS_EVERY_MS);
  timer.unref();

  return {
    count,
    spans,
    isSampled: createSampler(otlp.sampleRatio ?? 1),
    async stop(graceMs) {
      clearInterval(timer);
      await spans.stop(graceMs);
      closing.abort();
      await sending;
    },
  };
}

/** The exporter's own counters, so that lost spans are not lost silently. */
function createSpanCounters(registry: Registry, spans: SpanExporter): () => void {
  const exported = registry.counter({
    name: 'weft.telemetry.spans',
    help: 'Spans sent to the collector, or given up.',
    unit: '{span}',
    labels: ['outcome'],
  });
  const droppedRuns = registry.counter({
    name: 'weft.telemetry.runs.dropped',
    help: 'Ended runs whose spans were not read: too many waited for the collector.',
    unit: '{run}',
  });
  let before = spans.counts();
  return () => {
    const now = spans.counts();
    exported.add(now.sent - before.sent, 'sent');
    exported.add(now.dropped - before.dropped, 'dropped');
    droppedRuns.add(now.droppedRuns - before.droppedRuns);
    before = now;
  };
}

/** The caller decides where there is one; otherwise the id of the run does, the same on every process. */
function createSampler(ratio: number): (record: CreationRecord) => boolean {
  return ({ traceparent, runId }) => {
    if (traceparent !== undefined) return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
    return ratio >= 1 || Number.parseInt(runId.replaceAll('-', '').slice(-8), 16) / 2 ** 32 < ratio;
  };
}
