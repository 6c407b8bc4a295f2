import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { CollectedSpan } from '../../peers/otlp-collector.ts';
import { GATES } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { ofType, payloadOf } from '../events/log.ts';
import { canary } from '../secrets/canaries.ts';

const MULTI_NODE = 'conformance-multi-node';
const NOOP = 'conformance-noop';
const PARENT = 'conformance-subworkflow-parent';
const CHILD = 'conformance-subworkflow-child';
const APPROVAL = 'conformance-approval';
/** An exporter that could not reach its collector before waits a while until it tries again. */
const EXPORT_MS = 20_000;
const CHECK_MS = 45_000;

/** A caller's trace, marked as sampled: hosts may leave out others. */
function newTrace() {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

/** The spans of a run, once there are as many of each name as are asked for. */
function exported(
  { peers, eventually }: CheckContext,
  runId: string,
  wanted: (spans: readonly CollectedSpan[]) => boolean,
): Promise<readonly CollectedSpan[]> {
  return eventually(
    'the spans of an ended run reach the collector',
    async () => {
      const spans = peers.otlp?.spansOf(runId) ?? [];
      return wanted(spans) ? spans : undefined;
    },
    EXPORT_MS,
  );
}

const isRunSpan = ({ name }: CollectedSpan): boolean => name === 'openwop.run';
const isNodeSpan = ({ name, attributes }: CollectedSpan): boolean =>
  name.startsWith('openwop.node.') &&
  !name.endsWith('.attempt') &&
  attributes['openwop.node_id'] !== undefined;

async function runSpanOf(context: CheckContext, runId: string): Promise<CollectedSpan> {
  const spans = await exported(context, runId, (found) => found.some(isRunSpan));
  const own = spans.filter(isRunSpan);
  context.expect.equal(own.length, 1, 'a run is exported as one span openwop.run');
  return own[0] as CollectedSpan;
}

/** Every member of the attributes that is expected, by its name. */
function expectAttributes(
  { expect }: CheckContext,
  { name, attributes }: CollectedSpan,
  expected: JsonObject,
): void {
  for (const [key, value] of Object.entries(expected))
    expect.equal(attributes[key], value, `${key} of the span ${name} is right`);
}

export const TELEMETRY_CHECKS: readonly Check[] = [
  {
    id: 'telemetry/spans',
    title: 'a run and its nodes are exported as spans',
    proves: ['OTEL-1', 'OTEL-2', 'OTEL-3'],
    needs: { fixtures: [MULTI_NODE], peer: 'otlp' },
    timeoutMs: CHECK_MS,
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create(MULTI_NODE, {}, { headers: newTrace().headers });
      const { workflowId } = await runs.ended(runId);
      const started = ofType(await runs.events(runId), 'node.started').map(payloadOf);

      const spans = await exported(
        context,
        runId,
        (found) => found.some(isRunSpan) && found.filter(isNodeSpan).length >= started.length,
      );

      const run = await runSpanOf(context, runId);
      expectAttributes(context, run, { 'openwop.run_id': runId, 'openwop.workflow_id': workflowId ?? null });
      for (const { nodeId, typeId, attempt } of started) {
        const span = spans.find((node) => isNodeSpan(node) && node.attributes['openwop.node_id'] === nodeId);
        expect.that(span !== undefined, `the node ${String(nodeId)} is exported as a span`);
        if (span === undefined) continue;
        expect.equal(span.name, `openwop.node.${String(typeId)}`, 'the span of a node is named for its type');
        expectAttributes(context, span, {
          'openwop.node_type': typeId ?? null,
          'openwop.node_attempt': attempt ?? 0,
        });
        expect.equal(span.traceId, run.traceId, 'the span of a node is in the trace of its run');
        expect.equal(span.parentSpanId, run.spanId, 'the span of a node is below the span of its run');
      }
    },
  },
  {
    id: 'telemetry/trace-of-the-caller',
    title: 'a run is a part of the trace of its caller',
    proves: ['OTEL-4'],
    needs: { fixtures: [NOOP], peer: 'otlp' },
    timeoutMs: CHECK_MS,
    async run(context) {
      const { runs, expect } = context;
      const trace = newTrace();

      const runId = await runs.endedRun(NOOP, {}, { headers: trace.headers });
      const span = await runSpanOf(context, runId);
      expect.equal(span.traceId, trace.traceId, 'the run is in the trace of its caller');
      expect.equal(span.parentSpanId, trace.spanId, 'the span of the run is below the span of its caller');
    },
  },
  {
    id: 'telemetry/malformed-trace',
    title: 'a malformed traceparent does no harm',
    proves: ['OTEL-5'],
    needs: { fixtures: [NOOP] },
    async run({ runs, expect }) {
      const zeros = `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`;
      for (const traceparent of ['garbage', zeros, '00-abc-def-01']) {
        const runId = await runs.create(NOOP, {}, { headers: { traceparent } });
        const ended = await runs.ended(runId);
        expect.equal(ended['status'], 'completed', 'a run with a malformed traceparent completes');
      }
    },
  },
  {
    id: 'telemetry/child-runs',
    title: 'a child run is a part of the trace of its parent',
    proves: ['OTEL-6'],
    needs: { fixtures: [PARENT, CHILD], peer: 'otlp' },
    timeoutMs: CHECK_MS,
    async run(context) {
      const { runs, expect } = context;
      const trace = newTrace();
      const parent = await runs.endedRun(PARENT, {}, { headers: trace.headers });
      const completed = ofType(await runs.events(parent), 'node.completed').map(payloadOf);
      const caller = completed.find(({ outputs }) => isJsonObject(outputs) && 'childRunId' in outputs) ?? {};
      const { childRunId } = expect.object(caller['outputs'], 'a node that ran a child has outputs');
      const child = expect.string(childRunId, 'the outputs of a node that ran a child have a childRunId');

      const span = await runSpanOf(context, child);

      expect.equal(span.traceId, trace.traceId, 'the child is in the trace of its parent');
      expectAttributes(context, span, {
        'openwop.parent.run_id': parent,
        'openwop.parent.workflow_id': PARENT,
        'openwop.parent.node_id': caller['nodeId'] ?? null,
      });
    },
  },
  {
    id: 'telemetry/interrupts',
    title: 'an interrupt is exported as a span',
    proves: ['OTEL-7'],
    needs: { fixtures: [APPROVAL], peer: 'otlp' },
    timeoutMs: CHECK_MS,
    async run(context) {
      const { runs } = context;
      const runId = await runs.create(APPROVAL, {}, { headers: newTrace().headers });
      await runs.reaches(runId, 'waiting-approval');
      await runs.resolve(runId, 'gate', { action: 'accept' });
      await runs.ended(runId);
      const events = await runs.events(runId);

      const spans = await exported(context, runId, (found) =>
        found.some(({ name }) => name === 'openwop.interrupt'),
      );

      const span = spans.find(({ name }) => name === 'openwop.interrupt') as CollectedSpan;
      expectAttributes(context, span, {
        'openwop.interrupt_kind': payloadOf(ofType(events, 'interrupt.requested')[0])['kind'] ?? null,
        'openwop.interrupt_id': payloadOf(ofType(events, 'node.suspended')[0])['interruptId'] ?? null,
      });
    },
  },
  {
    id: 'telemetry/forks',
    title: 'the span of a fork says where it came from',
    proves: ['OTEL-8'],
    needs: { fixtures: [NOOP], peer: 'otlp' },
    timeoutMs: CHECK_MS,
    async run(context) {
      const { host, runs, expect, discovery } = context;
      const source = await runs.endedRun(NOOP);

      const answer = await host.request('POST', `/v1/runs/${source}:fork`, {
        headers: newTrace().headers,
        body: { mode: 'replay', fromSeq: 0 },
      });

      if (!GATES.replay.isOpen(discovery)) return expect.status(answer, 404, 501);
      expect.status(answer, 200, 201);
      const forked = expect.object(answer.json, 'a fork is answered with an object');
      const runId = expect.string(forked['runId'], 'a fork has a runId');
      await runs.ended(runId);
      expectAttributes(context, await runSpanOf(context, runId), {
        'openwop.replay.source_run_id': source,
        'openwop.replay.from_seq': 0,
        'openwop.replay.mode': 'replay',
      });
    },
  },
  {
    id: 'telemetry/secrets',
    title: 'no span has a credential from the inputs',
    proves: ['OTEL-9'],
    needs: { fixtures: [NOOP], peer: 'otlp' },
    timeoutMs: CHECK_MS,
    async run(context) {
      const { runs, expect } = context;
      const canaries = (['openai', 'anthropic', 'jwt'] as const).map((shape) => canary(shape));
      const inputs = Object.fromEntries(canaries.map(({ shape, value }) => [shape, value]));

      const runId = await runs.endedRun(NOOP, { inputs }, { headers: newTrace().headers });
      const spans = await exported(
        context,
        runId,
        (found) => found.some(isRunSpan) && found.some(isNodeSpan),
      );
      for (const { shape, marker } of canaries)
        expect.absent(
          JSON.stringify(spans),
          marker,
          `a credential in the shape of ${shape} does not appear in the spans of the run`,
        );
    },
  },
  {
    id: 'telemetry/answer-header',
    title: 'an answer is a part of the trace of its request',
    proves: ['OTEL-10'],
    async run({ host, expect, unique }) {
      const { traceId, headers } = newTrace();

      const answer = await host.request('GET', `/v1/runs/${unique()}`, { headers });

      const traceparent = expect.header(answer, 'traceparent');
      expect.equal(
        traceparent.split('-')[1],
        traceId,
        'the traceparent of an answer has the trace of its request',
      );
    },
  },
];
