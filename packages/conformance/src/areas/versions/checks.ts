import type { Json, JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Expectations } from '../../suite/expectations.ts';
import { readDiscovery } from '../discovery/document.ts';

const VERSION = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const FORCE_HEADER = 'x-force-engine-version';
/** A sequence that no run of one node reaches. */
const PAST_THE_END = 99_999;

const DISCOVERED: readonly Check[] = [
  {
    id: 'versions/protocol-version',
    title: 'protocol versions are written as MAJOR.MINOR',
    proves: ['VER-1', 'VER-2'],
    async run(context) {
      const { expect } = context;
      const discovery = await readDiscovery(context);

      const version = expect.string(discovery['protocolVersion'], 'discovery has protocolVersion');
      expect.that(VERSION.test(version), 'protocolVersion is of the form MAJOR.MINOR', version, '1.0');
      const { protocolVersions } = discovery;
      if (protocolVersions === undefined) return;
      const all = expect.array(protocolVersions, 'protocolVersions is a list');
      for (const each of all) {
        const text = expect.string(each, 'a protocol version is a text');
        expect.that(VERSION.test(text), 'every entry of protocolVersions is of the form MAJOR.MINOR', text);
      }
      expect.that(all.includes(version), 'protocolVersions has protocolVersion', all, version);
    },
  },
  {
    id: 'versions/axes',
    title: 'the versions of engine and log in discovery are whole numbers',
    proves: ['VER-3'],
    async run(context) {
      const discovery = await readDiscovery(context);

      expectCountWhereGiven(context.expect, discovery, 'engineVersion', 'discovery');
      expectCountWhereGiven(context.expect, discovery, 'eventLogSchemaVersion', 'discovery');
    },
  },
];

const RECORDED: readonly Check[] = [
  {
    id: 'versions/event-members',
    title: 'events have their required members, and their sequences increase',
    proves: ['VER-4', 'VER-5', 'VER-7'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun('conformance-multi-node');
      const events = await runs.events(runId);

      expect.that(events.length > 0, 'a run that has ended has events', events.length);
      let last = -1;
      for (const event of events) {
        expectRequiredMembers(expect, event, runId);
        const sequence = expect.integer(event['sequence'], 'an event has an integer sequence');
        expect.that(sequence > last, 'sequences increase strictly', sequence, `more than ${last}`);
        last = sequence;
        expectCountWhereGiven(expect, event, 'schemaVersion', 'an event');
        const { engineVersion } = event;
        expect.that(
          engineVersion === undefined || typeof engineVersion === 'string',
          'engineVersion of an event is a text',
          engineVersion,
        );
      }
    },
  },
  {
    id: 'versions/snapshot',
    title: 'the versions of a snapshot have their types',
    proves: ['VER-8'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const snapshot = await runs.ended(await runs.create('conformance-noop'));

      expectCountWhereGiven(expect, snapshot, 'eventLogSchemaVersion', 'a snapshot');
      const { engineVersion } = snapshot;
      expect.that(
        engineVersion === undefined || typeof engineVersion === 'string' || typeof engineVersion === 'number',
        'engineVersion of a snapshot is a text or a number',
        engineVersion,
      );
    },
  },
  {
    id: 'versions/past-the-end',
    title: 'polling after the last event finds nothing, and is not an error',
    proves: ['VER-6'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ host, runs, expect }) {
      const runId = await runs.endedRun('conformance-noop');
      const path = `/v1/runs/${runId}/events/poll?lastSequence=${PAST_THE_END}&timeout=1`;
      const answer = await host.request('GET', path);

      expect.status(answer, 200);
      const body = expect.object(answer.json, 'a poll is answered with an object');
      expect.equal(body['events'], [], 'there are no events after the last one');
    },
  },
];

const FORCED: readonly Check[] = [
  {
    id: 'versions/force-range',
    title: 'the range of engine versions that can be forced is well-formed',
    proves: ['VER-10'],
    async run(context) {
      const { min, max } = forceRange(context.expect, await readDiscovery(context));

      context.expect.that(min >= 0 && min <= max, 'min is at least 0 and at most max', { min, max });
    },
  },
  {
    id: 'versions/fold',
    title: 'a run completes under every engine version that can be forced',
    proves: ['VER-11'],
    needs: { fixtures: ['conformance-version-fold'] },
    async run({ discovery, runs, expect }) {
      const { min, max } = forceRange(expect, discovery);
      const current = discovery['engineVersion'];
      const isInside = typeof current === 'number' && current >= min && current <= max;

      for (const version of new Set([min, ...(isInside ? [current] : []), max])) {
        const headers = { [FORCE_HEADER]: String(version) };
        const runId = await runs.create('conformance-version-fold', {}, { headers });
        const { status } = await runs.ended(runId);
        expect.equal(status, 'completed', `a run forced to engine version ${version} completes`);
        const events = await runs.events(runId);
        expect.equal(
          events.at(-1)?.['type'],
          'run.completed',
          `the events of a run forced to engine version ${version} can be polled to their end`,
        );
      }
    },
  },
  {
    id: 'versions/out-of-range',
    title: 'an engine version outside the range is refused, with the range',
    proves: ['VER-12'],
    needs: { fixtures: ['conformance-version-fold'] },
    async run(context) {
      const { discovery, expect } = context;
      const { min, max } = forceRange(expect, discovery);

      for (const version of [max + 1, ...(min > 0 ? [min - 1] : [])]) {
        const answer = await createForced(context, String(version));
        const refusal = expect.envelope(answer, { status: 400, code: 'unsupported_force_engine_version' });
        const details = numbersIn(refusal['details']);
        expect.that(
          details.includes(min) && details.includes(max),
          'the refusal has the range in its details',
          refusal['details'] ?? 'nothing',
          { min, max },
        );
      }
    },
  },
  {
    id: 'versions/malformed',
    title: 'an engine version that is not a whole number is refused',
    proves: ['VER-13'],
    needs: { fixtures: ['conformance-version-fold'] },
    async run(context) {
      for (const version of ['latest', '-1', '1.5'])
        context.expect.envelope(await createForced(context, version), { status: 400 });
    },
  },
];

export const VERSIONS_CHECKS: readonly Check[] = [...DISCOVERED, ...RECORDED, ...FORCED];

function expectRequiredMembers(expect: Expectations, event: JsonObject, runId: string): void {
  expect.string(event['eventId'], 'an event has an eventId');
  expect.equal(event['runId'], runId, 'an event has the runId of its run');
  expect.string(event['type'], 'an event has a type');
  expect.that('payload' in event, 'an event has a payload, though it may be null', Object.keys(event));
  const timestamp = expect.string(event['timestamp'], 'an event has a timestamp');
  expect.that(TIMESTAMP.test(timestamp), 'a timestamp is written as ISO 8601 says', timestamp);
  const sequence = expect.integer(event['sequence'], 'an event has an integer sequence');
  expect.that(sequence >= 0, 'a sequence is 0 or more', sequence);
}

function expectCountWhereGiven(expect: Expectations, from: JsonObject, name: string, of: string): void {
  const value = from[name];
  if (value === undefined) return;
  const count = expect.integer(value, `${name} of ${of} is a whole number`);
  expect.that(count >= 0, `${name} of ${of} is 0 or more`, count);
}

function forceRange(expect: Expectations, discovery: JsonObject): { min: number; max: number } {
  const range = advertised(discovery, 'testing.forceEngineVersionRange');
  const { min, max } = expect.object(range, 'forceEngineVersionRange is an object');
  return {
    min: expect.integer(min, 'forceEngineVersionRange.min is a whole number'),
    max: expect.integer(max, 'forceEngineVersionRange.max is a whole number'),
  };
}

function createForced({ runs }: CheckContext, version: string) {
  const headers = { [FORCE_HEADER]: version };
  return runs.tryCreate('conformance-version-fold', {}, { headers });
}

/** What the range is called in details is not said, so its numbers are looked for. */
function numbersIn(value: Json | undefined): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}
