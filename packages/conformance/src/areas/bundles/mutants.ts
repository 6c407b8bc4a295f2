import { isJsonObject, type JsonObject } from '@weft/protocol';
import { answered, answeredHeader, answeredWith, omit, status } from '../../mutants/answers.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { ownersKey, remembers } from '../../mutants/requests.ts';
import { DISCOVERY, RUNS } from '../../mutants/targets.ts';
import { objectsOf } from '../../suite/json-shapes.ts';

const BUNDLE = { method: 'GET', path: /\/debug-bundle/ };

export const BUNDLES_MUTANTS: readonly Mutant[] = [
  {
    id: 'bundles/served-unadvertised',
    breaks: 'bundles are served and not advertised',
    caughtBy: ['bundles/absent'],
    says: /status 404/,
    on: DISCOVERY,
    answer: answered((discovery) => omit(discovery, 'debugBundle', 'capabilities')),
  },
  {
    id: 'bundles/cached',
    breaks: 'a bundle may be cached',
    caughtBy: ['bundles/shape'],
    says: /no-store/,
    on: BUNDLE,
    answer: answeredHeader('cache-control', 'private, max-age=60'),
  },
  {
    id: 'bundles/wrong-type',
    breaks: 'a bundle is sent as a file',
    caughtBy: ['bundles/shape'],
    says: /type application\/json/,
    on: BUNDLE,
    answer: answeredHeader('content-type', 'application/octet-stream'),
  },
  {
    id: 'bundles/no-redaction-mode',
    breaks: 'a bundle does not say how it was masked',
    caughtBy: ['bundles/shape', 'bundles/redaction'],
    says: /text redactionMode/,
    on: BUNDLE,
    answer: bundle((body) => omit(body, 'redactionMode')),
  },
  {
    id: 'bundles/version-as-a-number',
    breaks: 'bundleVersion is a number',
    caughtBy: ['bundles/shape'],
    says: /text bundleVersion/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, bundleVersion: 1 })),
  },
  {
    id: 'bundles/another-version',
    breaks: 'a bundle is of another major version',
    caughtBy: ['bundles/shape'],
    says: /first major version/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, bundleVersion: '2.0' })),
  },
  {
    id: 'bundles/made-before-the-run',
    breaks: 'generatedAt is the start of the host',
    caughtBy: ['bundles/shape'],
    says: /generatedAt is not before/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, generatedAt: '2020-01-01T00:00:00.000Z' })),
  },
  {
    id: 'bundles/host-with-a-machine',
    breaks: 'host names the machine',
    caughtBy: ['bundles/shape'],
    says: /host has no members but/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, host: { name: 'a', version: '1', hostname: 'machine-7' } })),
  },
  {
    id: 'bundles/stale-run',
    breaks: 'run has an older status',
    caughtBy: ['bundles/run'],
    says: /status of the run as it is read/,
    on: BUNDLE,
    answer: run((whole) => ({ ...whole, status: 'running' })),
  },
  {
    id: 'bundles/run-without-error',
    breaks: 'run does not say why it failed',
    caughtBy: ['bundles/run'],
    says: /error of the run as it is read/,
    on: BUNDLE,
    answer: run((whole) => ({ ...whole, error: null })),
  },
  {
    id: 'bundles/first-event-lost',
    breaks: 'events lacks the first event',
    caughtBy: ['bundles/events', 'bundles/of-a-live-run'],
    says: /the log as it is polled/,
    on: BUNDLE,
    answer: events((list) => list.slice(1)),
  },
  {
    id: 'bundles/updates-alone',
    breaks: 'events has what updates shows',
    caughtBy: ['bundles/events'],
    says: /the log as it is polled/,
    on: BUNDLE,
    answer: events((list) => list.filter(({ type }) => type !== 'node.started')),
  },
  {
    id: 'bundles/unordered-events',
    breaks: 'events come newest first',
    caughtBy: ['bundles/events'],
    says: /the log as it is polled, in order/,
    on: BUNDLE,
    answer: events((list) => list.toReversed()),
  },
  {
    id: 'bundles/wrong-event-count',
    breaks: 'eventCount is one too large',
    caughtBy: ['bundles/events'],
    says: /eventCount is the number of events/,
    on: BUNDLE,
    answer: metrics((counts) => ({ ...counts, eventCount: Number(counts['eventCount']) + 1 })),
  },
  {
    id: 'bundles/wrong-node-count',
    breaks: 'nodeCount counts events of nodes',
    caughtBy: ['bundles/metrics'],
    says: /nodeCount is the number of different nodes/,
    on: BUNDLE,
    answer: metrics((counts) => ({ ...counts, nodeCount: 6 })),
  },
  {
    id: 'bundles/cost-out-of-nothing',
    breaks: 'openwopCost is zero where nothing was measured',
    caughtBy: ['bundles/metrics'],
    says: /openwopCost is that of the run/,
    on: BUNDLE,
    answer: metrics((counts) => ({ ...counts, openwopCost: { usd: 0 } })),
  },
  {
    id: 'bundles/said-to-be-cut',
    breaks: 'a whole bundle is said to be truncated',
    caughtBy: ['bundles/events'],
    says: /whole bundle is not truncated/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, truncated: true })),
  },
  {
    id: 'bundles/ended-too-early',
    breaks: 'a run that waits has an end',
    caughtBy: ['bundles/of-a-live-run'],
    says: /no endedAt/,
    on: BUNDLE,
    answer: run((whole) => ({ ...whole, endedAt: '2020-01-01T00:00:00.000Z' })),
  },
  {
    id: 'bundles/no-spans',
    breaks: 'spans is left out where there are none',
    caughtBy: ['bundles/spans'],
    says: /spans is a list/,
    on: BUNDLE,
    answer: bundle((body) => omit(body, 'spans')),
  },
  {
    id: 'bundles/span-ids-as-numbers',
    breaks: 'the ids of spans are no hex',
    caughtBy: ['bundles/spans'],
    says: /spanId is hex/,
    on: BUNDLE,
    answer: spans((span, index) => ({ ...span, spanId: `span-${index}` })),
  },
  {
    id: 'bundles/spans-of-the-vendor',
    breaks: 'spans have names of the vendor',
    caughtBy: ['bundles/spans'],
    says: /begins with openwop\./,
    on: BUNDLE,
    answer: spans((span) => ({ ...span, name: 'http.request' })),
  },
  {
    id: 'bundles/masked-and-passed-through',
    breaks: 'a masked bundle has the mode passthrough',
    caughtBy: ['bundles/redaction'],
    says: /does not have the mode passthrough/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, redactionApplied: true, redactionMode: 'passthrough' })),
  },
  {
    id: 'bundles/not-masked-but-a-mode',
    breaks: 'a bundle with the mode mask says that nothing is masked',
    caughtBy: ['bundles/redaction'],
    says: /not masked has the mode passthrough/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, redactionApplied: false })),
  },
  {
    id: 'bundles/another-mode',
    breaks: 'a bundle is masked otherwise than advertised',
    caughtBy: ['bundles/default-mode'],
    says: /compliance\.defaultMode/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, redactionMode: 'hash' })),
  },
  {
    id: 'bundles/inputs-shown',
    breaks: 'run shows the inputs as they came',
    caughtBy: ['bundles/credentials-in-inputs'],
    says: /no credential of the inputs/,
    on: RUNS,
    request: remembers('asked', ({ method, path }) => method === 'POST' && path === '/v1/runs'),
    answer: (answer, request, memory) => {
      if (!request.path.includes('/debug-bundle')) return answer;
      const asked = JSON.parse(String(memory.get('asked'))) as JsonObject;
      return run((whole) => ({ ...whole, inputs: asked['inputs'] ?? null }))(answer, request, memory);
    },
  },
  {
    id: 'bundles/answers-shown',
    breaks: 'events show an answer as it came',
    caughtBy: ['bundles/credentials-in-events'],
    says: /no credential that came into an event/,
    on: RUNS,
    request: remembers('asked', ({ path }) => path.includes('/interrupts/')),
    answer: (answer, request, memory) =>
      request.path.includes('/debug-bundle')
        ? events((list) => [...list, { payload: memory.get('asked') ?? null }])(answer, request, memory)
        : answer,
  },
  {
    id: 'bundles/open-to-all',
    breaks: 'a bundle needs no key',
    caughtBy: ['bundles/access'],
    says: /status 401/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'bundles/unknown-run-has-one',
    breaks: 'a run that does not exist has a bundle',
    caughtBy: ['bundles/access'],
    says: /status 404 or 403/,
    on: BUNDLE,
    answer: status(404, 200),
  },
  {
    id: 'bundles/open-to-other-tenants',
    breaks: 'a key of another tenant gets a bundle',
    caughtBy: ['bundles/other-tenant'],
    says: /status 404 or 403/,
    on: RUNS,
    request: ownersKey,
  },
  {
    id: 'bundles/spans-of-other-runs',
    breaks: 'spans of every run at the time are there',
    caughtBy: ['bundles/one-run-alone'],
    says: /a span of a bundle is of its run/,
    on: BUNDLE,
    answer: spans((span) => ({ ...span, attributes: { 'openwop.run_id': 'another' } })),
  },
  {
    id: 'bundles/events-of-other-runs',
    breaks: 'an event of another run is there',
    caughtBy: ['bundles/one-run-alone'],
    says: /an event of a bundle is of its run/,
    on: BUNDLE,
    answer: events((list) => [...list, { runId: 'another', type: 'run.started' }]),
  },
  {
    id: 'bundles/connection-string',
    breaks: 'a bundle names the database',
    caughtBy: ['bundles/one-run-alone'],
    says: /no connection string/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, store: 'postgres://host@db/weft' })),
  },
  {
    id: 'bundles/internal-address',
    breaks: 'a bundle names the address of a machine',
    caughtBy: ['bundles/one-run-alone'],
    says: /no internal address/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, worker: '10.4.7.21' })),
  },
  {
    id: 'bundles/cut-without-a-word',
    breaks: 'a bundle that was cut does not say so',
    caughtBy: ['bundles/truncated', 'bundles/cut-by-a-parameter-of-the-host'],
    says: /has truncated true/,
    on: BUNDLE,
    answer: bundle((body) => omit(body, 'truncated')),
  },
  {
    id: 'bundles/cut-without-a-reason',
    breaks: 'a bundle that was cut does not say why',
    caughtBy: ['bundles/truncated'],
    says: /truncatedReason/,
    on: BUNDLE,
    answer: bundle((body) => omit(body, 'truncatedReason')),
  },
  {
    id: 'bundles/last-events-kept',
    breaks: 'a bundle that was cut has the last events',
    caughtBy: ['bundles/truncated'],
    says: /first events of the log/,
    on: BUNDLE,
    answer: events((list) => list.slice(1)),
  },
  {
    id: 'bundles/count-of-what-is-left',
    breaks: 'eventCount of a bundle that was cut counts what is left',
    caughtBy: ['bundles/truncated'],
    says: /number of all events/,
    on: BUNDLE,
    answer: metrics((counts) => ({ ...counts, eventCount: 2 })),
  },
  {
    id: 'bundles/without-annotations',
    breaks: 'a bundle has no annotations',
    caughtBy: ['bundles/annotations'],
    says: /every annotation of its run/,
    on: BUNDLE,
    answer: bundle((whole) => ({ ...whole, annotations: [] })),
  },
];

function bundle(change: (whole: JsonObject) => JsonObject) {
  return answeredWith('bundleVersion', change);
}

function run(change: (whole: JsonObject) => JsonObject) {
  return bundle((whole) => (isJsonObject(whole['run']) ? { ...whole, run: change(whole['run']) } : whole));
}

function metrics(change: (counts: JsonObject) => JsonObject) {
  return bundle((whole) =>
    isJsonObject(whole['metrics']) ? { ...whole, metrics: change(whole['metrics']) } : whole,
  );
}

function events(change: (list: JsonObject[]) => JsonObject[]) {
  return bundle((whole) => ({ ...whole, events: change(objectsOf(whole['events'])) }));
}

function spans(change: (span: JsonObject, index: number) => JsonObject) {
  return bundle((whole) => ({ ...whole, spans: objectsOf(whole['spans']).map(change) }));
}
