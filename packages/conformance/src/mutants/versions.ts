import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { json, type Mutant, status } from './mutant.ts';

const ON_DISCOVERY = { method: 'GET', path: /^\/\.well-known\/openwop/ };
const ON_POLL = { method: 'GET', path: /\/events\/poll/ };
const CREATE = { method: 'POST', path: /^\/v1\/runs$/ };

function replaces(member: string, value: Json) {
  return json((body) => (isJsonObject(body) ? { ...body, [member]: value } : body));
}

/** Changes the events of a poll. */
function events(change: (event: JsonObject, index: number) => Json) {
  return json((body) =>
    isJsonObject(body) && Array.isArray(body['events'])
      ? {
          ...body,
          events: body['events'].map((event, index) => (isJsonObject(event) ? change(event, index) : event)),
        }
      : body,
  );
}

export const VERSIONS_MUTANTS: readonly Mutant[] = [
  {
    id: 'versions/patch-part',
    breaks: 'protocolVersion has a patch part',
    caughtBy: ['versions/protocol-version'],
    says: /MAJOR\.MINOR/,
    on: ON_DISCOVERY,
    answer: replaces('protocolVersion', '1.0.0'),
  },
  {
    id: 'versions/not-among-its-own',
    breaks: 'protocolVersion is not in protocolVersions',
    caughtBy: ['versions/protocol-version'],
    says: /protocolVersions has protocolVersion/,
    on: ON_DISCOVERY,
    answer: replaces('protocolVersions', ['1.7']),
  },
  {
    id: 'versions/engine-as-text',
    breaks: 'engineVersion of discovery is a text',
    caughtBy: ['versions/axes'],
    says: /engineVersion of discovery/,
    on: ON_DISCOVERY,
    answer: replaces('engineVersion', '1'),
  },
  {
    id: 'versions/no-payload',
    breaks: 'events without content have no payload',
    caughtBy: ['versions/event-members'],
    says: /has a payload/,
    on: ON_POLL,
    answer: events(({ payload: _, ...event }) => event),
  },
  {
    id: 'versions/unix-time',
    breaks: 'timestamps are numbers',
    caughtBy: ['versions/event-members'],
    says: /has a timestamp/,
    on: ON_POLL,
    answer: events((event) => ({ ...event, timestamp: 1_700_000_000 })),
  },
  {
    id: 'versions/local-time',
    breaks: 'timestamps have no zone',
    caughtBy: ['versions/event-members'],
    says: /ISO 8601/,
    on: ON_POLL,
    answer: events((event) => ({ ...event, timestamp: '2026-01-01 10:00:00' })),
  },
  {
    id: 'versions/same-sequence',
    breaks: 'two events have one sequence',
    caughtBy: ['versions/event-members'],
    says: /increase strictly/,
    on: ON_POLL,
    answer: events((event, index) => (index === 1 ? { ...event, sequence: 0 } : event)),
  },
  {
    id: 'versions/engine-number-on-events',
    breaks: 'engineVersion of events is a number',
    caughtBy: ['versions/event-members'],
    says: /engineVersion of an event/,
    on: ON_POLL,
    answer: events((event) => ({ ...event, engineVersion: 1 })),
  },
  {
    id: 'versions/log-version-as-text',
    breaks: 'eventLogSchemaVersion of snapshots is a text',
    caughtBy: ['versions/snapshot'],
    says: /eventLogSchemaVersion of a snapshot/,
    on: { method: 'GET', path: /^\/v1\/runs\/[^/]+$/ },
    answer: replaces('eventLogSchemaVersion', '2'),
  },
  {
    id: 'versions/poll-416',
    breaks: 'polling after the last event is an error',
    caughtBy: ['versions/past-the-end'],
    says: /status 200/,
    on: { method: 'GET', path: /lastSequence=99999/ },
    answer: status(200, 416),
  },
  {
    id: 'versions/poll-from-the-start',
    breaks: 'polling after the last event starts again',
    caughtBy: ['versions/past-the-end'],
    says: /no events after the last/,
    on: { method: 'GET', path: /lastSequence=99999/ },
    request: (request) => ({ ...request, path: request.path.replace('lastSequence=99999&', '') }),
  },
  {
    id: 'versions/empty-range',
    breaks: 'the range of engine versions ends before it begins',
    caughtBy: ['versions/force-range'],
    says: /at most max/,
    on: ON_DISCOVERY,
    answer: replaces('testing', { forceEngineVersionRange: { min: 3, max: 1 } }),
  },
  {
    id: 'versions/range-too-wide',
    breaks: 'a higher engine version is advertised than is served',
    caughtBy: ['versions/fold'],
    says: /status 201/,
    on: ON_DISCOVERY,
    answer: replaces('testing', { forceEngineVersionRange: { min: 1, max: 9 } }),
  },
  {
    id: 'versions/forced-run-fails',
    breaks: 'a run under an old engine version fails',
    caughtBy: ['versions/fold'],
    says: /completes/,
    on: { method: 'GET', path: /^\/v1\/runs\/[^/]+$/ },
    answer: json((body) =>
      isJsonObject(body) && body['status'] === 'completed' ? { ...body, status: 'failed' } : body,
    ),
  },
  {
    id: 'versions/header-ignored',
    breaks: 'the header is ignored',
    caughtBy: ['versions/out-of-range', 'versions/malformed'],
    says: /status 400/,
    on: CREATE,
    request: ({ headers: { 'x-force-engine-version': _, ...headers }, ...request }) => ({
      ...request,
      headers,
    }),
  },
  {
    id: 'versions/range-untold',
    breaks: 'the refusal of an engine version does not say the range',
    caughtBy: ['versions/out-of-range'],
    says: /range in its details/,
    on: CREATE,
    answer: json((body) => {
      if (!isJsonObject(body) || body['details'] === undefined) return body;
      const { details: _, ...rest } = body;
      return rest;
    }),
  },
];
