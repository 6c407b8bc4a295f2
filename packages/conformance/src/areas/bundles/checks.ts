import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { objectOf } from '../../suite/json-shapes.ts';
import { sequencesOf } from '../events/log.ts';
import { canary } from '../secrets/canaries.ts';
import { waitingRun } from '../streams/reading.ts';

/** The shapes of credentials that a bundle must mask. */
const SHAPES = ['openai', 'anthropic', 'google', 'jwt', 'credential'] as const;
const MODES = ['mask', 'omit', 'hash', 'passthrough'];
const HOST_MEMBERS = ['name', 'version', 'vendor'];
const CONNECTION_STRING =
  /\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|jdbc:\w+):\/\//;
const INTERNAL_ADDRESS =
  /\b(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}\b(?:\.\d{1,3})?/g;
const SPAN_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/i;

export const BUNDLES_CHECKS: readonly Check[] = [
  {
    id: 'bundles/absent',
    title: 'a host without bundles answers their path with 404',
    proves: ['BUNDLE-1'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      for (const runId of [await context.runs.endedRun('conformance-noop'), unique('no-such-run')])
        expect.envelope(await host.request('GET', bundlePath(runId)), { status: 404 });
    },
  },
  {
    id: 'bundles/shape',
    title: 'a bundle has its members, and is not cached',
    proves: ['BUNDLE-2', 'BUNDLE-3', 'BUNDLE-4', 'BUNDLE-5', 'BUNDLE-6', 'BUNDLE-33'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const last = (await runs.events(runId)).at(-1)?.['timestamp'];

      const { answer, bundle } = await bundleOf(context, runId);

      const control = answer.headers.get('cache-control') ?? 'nothing';
      expect.that(/\bno-store\b/i.test(control), 'a bundle has Cache-Control: no-store', control);
      const type = answer.headers.get('content-type') ?? 'nothing';
      expect.that(/^application\/json\b/i.test(type), 'a bundle has the type application/json', type);
      const version = expect.string(bundle['bundleVersion'], 'a bundle has a bundleVersion');
      expect.that(/^1(\.\d+)?$/.test(version), 'bundleVersion is of the first major version', version);
      const made = dateOf(context, bundle['generatedAt'], 'generatedAt');
      // Clocks of two processes of one host may differ a little.
      expect.that(
        made >= Date.parse(String(last)) - 1_000,
        'generatedAt is not before the last event of the bundle',
        bundle['generatedAt'],
        last,
      );
      const maker = expect.object(bundle['host'], 'a bundle has the object host');
      expect.string(maker['name'], 'host has a name');
      expect.string(maker['version'], 'host has a version');
      const extra = Object.keys(maker).filter((name) => !HOST_MEMBERS.includes(name));
      expect.that(extra.length === 0, `host has no members but ${HOST_MEMBERS.join(', ')}`, extra);
    },
  },
  {
    id: 'bundles/run',
    title: 'run is the run as it is read',
    proves: ['BUNDLE-7'],
    needs: { fixtures: ['conformance-failure', 'conformance-subworkflow-child'] },
    async run(context) {
      const { runs, expect } = context;
      for (const fixture of ['conformance-failure', 'conformance-subworkflow-child']) {
        const runId = await context.runs.endedRun(fixture);
        const snapshot = await runs.snapshot(runId);

        const { bundle } = await bundleOf(context, runId);

        const run = expect.object(bundle['run'], 'a bundle has the object run');
        for (const name of ['runId', 'workflowId', 'status', 'startedAt'])
          expect.equal(run[name], snapshot[name], `run has the ${name} of the run as it is read`);
        const end = run['endedAt'] ?? run['completedAt'] ?? null;
        const ended = snapshot['completedAt'] ?? snapshot['endedAt'] ?? end;
        expect.equal(end, ended, 'run has the end of the run as it is read');
        expect.equal(codeOf(run), codeOf(snapshot), 'run has the error of the run as it is read');
        // Reference hosts leave variables out altogether, which is one way to mask them.
        const names = Object.keys(objectOf(run['variables']));
        const known = Object.keys(objectOf(snapshot['variables']));
        const strange = names.filter((name) => !known.includes(name));
        expect.that(strange.length === 0, 'run has no variables that the run does not have', strange);
      }
    },
  },
  {
    id: 'bundles/events',
    title: 'events is the log',
    proves: ['BUNDLE-9', 'BUNDLE-14', 'BUNDLE-30'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const log = await runs.events(runId);

      const { bundle, events } = await bundleOf(context, runId);

      expect.equal(events.map(bundledOf), log.map(bundledOf), 'events is the log as it is polled, in order');
      expect.equal(metricsOf(bundle)['eventCount'], log.length, 'eventCount is the number of events');
      expect.that(bundle['truncated'] !== true, 'a whole bundle is not truncated', bundle['truncated']);
    },
  },
  {
    id: 'bundles/of-a-live-run',
    title: 'a run that has not ended has a bundle',
    proves: ['BUNDLE-10'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId, events: log } = await waitingRun(context);

      const { bundle, events } = await bundleOf(context, runId);

      const run = expect.object(bundle['run'], 'a bundle has the object run');
      expect.equal(run['status'], 'waiting-approval', 'run has the status of the run as it is read');
      expect.equal(run['endedAt'] ?? null, null, 'a run that has not ended has no endedAt');
      expect.equal(
        sequencesOf(events),
        sequencesOf(log),
        'the bundle of an active run has its events so far',
      );
      await runs.cancel(runId);
    },
  },
  {
    id: 'bundles/metrics',
    title: 'metrics counts events and nodes',
    proves: ['BUNDLE-13', 'BUNDLE-15'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const cost = costOf(await runs.snapshot(runId));

      const { bundle, events } = await bundleOf(context, runId);

      const metrics = expect.object(bundle['metrics'], 'a bundle has the object metrics');
      const nodes = new Set(
        events.map(({ nodeId }) => nodeId).filter((nodeId) => typeof nodeId === 'string'),
      );
      expect.equal(metrics['nodeCount'], nodes.size, 'nodeCount is the number of different nodes');
      expect.equal(metrics['openwopCost'] ?? null, cost, 'openwopCost is that of the run as it is read');
    },
  },
  {
    id: 'bundles/spans',
    title: 'spans tells what was executed',
    proves: ['BUNDLE-11', 'BUNDLE-12'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { expect } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');

      const { bundle } = await bundleOf(context, runId);

      const spans = expect.array(bundle['spans'], 'spans is a list').map((span) => spanOf(context, span));
      const ids = spans.map(({ spanId }) => spanId);
      expect.equal(new Set(ids).size, ids.length, 'spans have ids of their own');
      if (spans.length > 0)
        expect.that(
          spans.some(({ name }) => name === 'openwop.run'),
          'spans has one of the run, named openwop.run',
          spans.map(({ name }) => name),
        );
    },
  },
  {
    id: 'bundles/redaction',
    title: 'a bundle says how it was masked, and does not contradict itself',
    proves: ['BUNDLE-16'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');

      const { bundle } = await bundleOf(context, runId);

      isConsistent(context, bundle);
    },
  },
  {
    id: 'bundles/default-mode',
    title: 'a bundle is masked as the host advertises',
    proves: ['BUNDLE-17'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const runId = await context.runs.endedRun('conformance-noop');

      const { bundle } = await bundleOf(context, runId);

      context.expect.equal(
        bundle['redactionMode'],
        advertised(context.discovery, 'compliance.defaultMode'),
        'redactionMode is the advertised compliance.defaultMode',
      );
    },
  },
  {
    id: 'bundles/credentials-in-inputs',
    title: 'credentials in inputs are not in the bundle',
    proves: ['BUNDLE-18'],
    needs: { fixtures: ['conformance-noop', 'conformance-identity'] },
    async run(context) {
      const { expect } = context;
      const shapes = Object.fromEntries(SHAPES.map((shape) => [shape, canary(shape).value]));
      const declared = { openai: canary('openai').value };
      for (const [fixture, secrets, inputs] of [
        ['conformance-noop', shapes, shapes],
        ['conformance-identity', declared, { payload: { nested: declared } }],
      ] as const) {
        const runId = await context.runs.endedRun(fixture, { inputs });

        const { answer, bundle } = await bundleOf(context, runId);

        for (const [shape, secret] of Object.entries(secrets))
          expect.absent(answer.text, secret, `a bundle has no credential of the inputs (${shape})`);
        expect.equal(
          bundle['redactionApplied'],
          true,
          'redactionApplied is true where credentials were masked',
        );
        isConsistent(context, bundle);
      }
    },
  },
  {
    id: 'bundles/credentials-in-events',
    title: 'credentials in an answer are not in the bundle',
    proves: ['BUNDLE-19'],
    needs: { fixtures: ['conformance-clarification'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-clarification');
      await runs.reaches(runId, 'waiting-input');
      const secret = canary('openai').value;
      expect.status(await runs.resolve(runId, 'ask', { answers: { q1: secret } }), 200);
      await runs.ended(runId);

      const { answer } = await bundleOf(context, runId);

      expect.absent(answer.text, secret, 'a bundle has no credential that came into an event');
    },
  },
  {
    id: 'bundles/access',
    title: 'a bundle needs a key and a run',
    proves: ['BUNDLE-22'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      const runId = await context.runs.endedRun('conformance-noop');

      expect.envelope(await host.request('GET', bundlePath(runId), { key: null }), { status: 401 });
      expect.envelope(await host.request('GET', bundlePath(unique('no-such-run'))), { status: [404, 403] });
    },
  },
  {
    id: 'bundles/other-tenant',
    title: 'a key of another tenant gets no bundle',
    proves: ['BUNDLE-23'],
    needs: { fixtures: ['conformance-noop'], key: 'otherTenant' },
    async run(context) {
      const { host, expect, keys } = context;
      const runId = await context.runs.endedRun('conformance-noop');

      const answer = await host.request('GET', bundlePath(runId), { key: keys.otherTenant ?? null });

      expect.envelope(answer, { status: [404, 403] });
      expect.absent(answer.text, runId, 'the answer to another tenant does not name the run');
    },
  },
  {
    id: 'bundles/one-run-alone',
    title: 'a bundle tells of one run, and nothing of the machines',
    proves: ['BUNDLE-24', 'BUNDLE-25'],
    needs: { fixtures: ['conformance-noop', 'conformance-multi-node'] },
    async run(context) {
      const { host, expect } = context;
      const [runId, before, after] = await Promise.all([
        context.runs.endedRun('conformance-multi-node'),
        context.runs.endedRun('conformance-noop'),
        context.runs.endedRun('conformance-multi-node'),
      ]);

      const { answer, bundle, events } = await bundleOf(context, runId);

      for (const event of events)
        expect.equal(event['runId'] ?? runId, runId, 'an event of a bundle is of its run');
      const spans = Array.isArray(bundle['spans']) ? bundle['spans'] : [];
      for (const span of spans) {
        const attributes = objectOf(objectOf(span)['attributes']);
        expect.equal(attributes['openwop.run_id'] ?? runId, runId, 'a span of a bundle is of its run');
      }
      for (const other of [before, after])
        expect.absent(answer.text, other, 'a bundle does not name another run');
      const found = CONNECTION_STRING.exec(answer.text)?.[0] ?? '';
      expect.that(found === '', 'a bundle has no connection string', found);
      const own = new URL(host.url).hostname;
      const addresses = (answer.text.match(INTERNAL_ADDRESS) ?? []).filter((address) => address !== own);
      expect.that(addresses.length === 0, 'a bundle has no internal address', addresses);
    },
  },
  {
    id: 'bundles/truncated',
    title: 'a bundle that was cut says so, and has the first events',
    proves: ['BUNDLE-28', 'BUNDLE-29'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect, notApplicable } = context;
      const runId = await context.runs.endedRun('conformance-multi-node');
      const log = await runs.events(runId);

      const { bundle, events } = await bundleOf(context, runId, '?maxEvents=2');

      if (bundle['truncated'] !== true && events.length === log.length)
        return notApplicable('the host does not lower the limit by maxEvents');
      expect.equal(bundle['truncated'], true, 'a bundle that was cut has truncated true');
      expect.string(bundle['truncatedReason'], 'a bundle that was cut has a truncatedReason');
      expect.that(events.length < log.length, 'a bundle that was cut lacks events', events.length);
      expect.equal(
        events.map(bundledOf),
        log.slice(0, events.length).map(bundledOf),
        'a bundle that was cut has the first events of the log',
      );
      expect.equal(
        metricsOf(bundle)['eventCount'] ?? log.length,
        log.length,
        'eventCount of a bundle that was cut is the number of all events',
      );
      return undefined;
    },
  },
  {
    id: 'bundles/cut-by-a-parameter-of-the-host',
    title: 'a host’s own limit on events cuts a bundle as the usual one does',
    proves: ['BUNDLE-36'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { discovery, runs, expect, notApplicable } = context;
      const vendor = advertised(discovery, 'implementation.vendor');
      if (typeof vendor !== 'string') return notApplicable('the host does not say its vendor');
      const runId = await context.runs.endedRun('conformance-multi-node');
      const log = await runs.events(runId);

      const query = `?host.${encodeURIComponent(vendor)}.maxEvents=2`;
      const { bundle, events } = await bundleOf(context, runId, query);

      if (bundle['truncated'] !== true && events.length === log.length)
        return notApplicable('the host has no such parameter');
      expect.equal(bundle['truncated'], true, 'a bundle that was cut has truncated true');
      expect.equal(
        events.map(bundledOf),
        log.slice(0, events.length).map(bundledOf),
        'a bundle that was cut has the first events of the log',
      );
      return undefined;
    },
  },
  {
    id: 'bundles/annotations',
    title: 'a bundle has the annotations of its run, masked',
    proves: ['BUNDLE-34', 'BUNDLE-35'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, expect, unique } = context;
      const runId = await context.runs.endedRun('conformance-noop');
      const [note, secret] = [unique('note'), canary('openai').value];
      const body = { signal: { kind: 'flag' }, note: `${note} ${secret}` };
      const recorded = await host.request('POST', `/v1/runs/${runId}/annotations`, { body });
      expect.status(recorded, 201);

      const { answer, bundle } = await bundleOf(context, runId);

      const annotations = expect.array(bundle['annotations'], 'a bundle has the list annotations');
      expect.equal(annotations.length, 1, 'a bundle has every annotation of its run');
      const { annotationId } = expect.object(annotations[0], 'an annotation is an object');
      const { annotationId: known } = expect.object(
        recorded.json,
        'an annotation is answered with an object',
      );
      expect.equal(annotationId, known, 'a bundle has the annotation of its run');
      expect.absent(answer.text, secret, 'a bundle has no credential that stood in an annotation');
    },
  },
];

function bundlePath(runId: string, query = ''): string {
  return `/v1/runs/${runId}/debug-bundle${query}`;
}

interface Bundle {
  readonly answer: Answer;
  readonly bundle: JsonObject;
  readonly events: readonly JsonObject[];
}

/** A bundle with the members that every bundle has. */
async function bundleOf(context: CheckContext, runId: string, query = ''): Promise<Bundle> {
  const { host, expect, discovery, notApplicable } = context;
  if (advertised(discovery, 'debugBundle.supported') !== true)
    return notApplicable('not advertised: debugBundle.supported');
  const answer = await host.request('GET', bundlePath(runId, query));
  expect.status(answer, 200);
  const bundle = expect.object(answer.json, 'a bundle is answered with an object');
  for (const name of ['bundleVersion', 'generatedAt', 'redactionMode'])
    expect.string(bundle[name], `a bundle has the text ${name}`);
  for (const name of ['host', 'run']) expect.object(bundle[name], `a bundle has the object ${name}`);
  const events = expect.array(bundle['events'], 'a bundle has the list events');
  expect.that(
    typeof bundle['redactionApplied'] === 'boolean',
    'a bundle has the boolean redactionApplied',
    bundle['redactionApplied'],
  );
  return { answer, bundle, events: events.map((event) => expect.object(event, 'an event is an object')) };
}

function isConsistent({ expect }: CheckContext, bundle: JsonObject): void {
  const { redactionApplied: isApplied, redactionMode: mode } = bundle;
  expect.that(MODES.includes(String(mode)), `redactionMode is one of ${MODES.join(', ')}`, mode);
  expect.that(
    isApplied !== true || mode !== 'passthrough',
    'a bundle that was masked does not have the mode passthrough',
    { redactionApplied: isApplied, redactionMode: mode },
  );
  expect.that(
    isApplied !== false || mode === 'passthrough',
    'a bundle that was not masked has the mode passthrough',
    { redactionApplied: isApplied, redactionMode: mode },
  );
}

/** What an event of a bundle shares with a polled one; payload may be named data there, and sequence seq. */
function bundledOf({ sequence, seq, type, timestamp, nodeId, payload, data }: JsonObject): JsonObject {
  return {
    sequence: sequence ?? seq ?? null,
    type: type ?? null,
    timestamp: timestamp ?? null,
    nodeId: nodeId ?? null,
    payload: payload ?? data ?? null,
  };
}

function metricsOf({ metrics }: JsonObject): JsonObject {
  return objectOf(metrics);
}

function costOf({ metrics }: JsonObject): Json {
  return isJsonObject(metrics) ? (metrics['openwopCost'] ?? null) : null;
}

function codeOf({ error }: JsonObject): Json {
  return isJsonObject(error) ? { code: error['code'] ?? null, message: error['message'] ?? null } : null;
}

function spanOf(context: CheckContext, value: Json): { readonly name: string; readonly spanId: string } {
  const { expect } = context;
  const span = expect.object(value, 'a span is an object');
  const name = expect.string(span['name'], 'a span has a name');
  expect.that(name.startsWith('openwop.'), 'the name of a span begins with openwop.', name);
  const spanId = expect.string(span['spanId'], 'a span has a spanId');
  expect.that(SPAN_ID.test(spanId), 'a spanId is hex', spanId);
  const { parentSpanId, endedAt } = span;
  expect.that(
    parentSpanId === null || (typeof parentSpanId === 'string' && SPAN_ID.test(parentSpanId)),
    'a parentSpanId is hex or null',
    parentSpanId,
  );
  const start = dateOf(context, span['startedAt'], 'startedAt of a span');
  if (endedAt !== null)
    expect.that(
      dateOf(context, endedAt, 'endedAt of a span') >= start,
      'a span does not end before it starts',
      canonicalJson(span),
    );
  expect.object(span['attributes'], 'a span has the object attributes');
  return { name, spanId };
}

function dateOf({ expect }: CheckContext, value: Json | undefined, name: string): number {
  const date = Date.parse(expect.string(value, `${name} is a text`));
  expect.that(!Number.isNaN(date), `${name} is a date and time`, value);
  return date;
}
