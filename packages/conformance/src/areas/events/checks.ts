import { EVENT_TYPES, isJsonObject, isVendorType, type JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { isWhole } from '../../suite/json-shapes.ts';
import { errorOf, expectEndedLog, ofNode, ofType, outline, payloadOf } from './log.ts';

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const CLOSED_PREFIXES = ['run.', 'node.', 'approval.', 'clarification.', 'cap.', 'channel.', 'replay.'];
/** Prose wants this one, the catalogue does not have it: neither is wrong. */
const DISPUTED_TYPES = ['run.replay.started'];
const LONGEST_ID = 128;

export const EVENTS_CHECKS: readonly Check[] = [
  {
    id: 'events/required-members',
    title: 'every event has its six members, with their types',
    proves: ['EVT-1', 'EVT-2', 'EVT-18', 'EVT-20'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.endedRun('conformance-multi-node');

      const events = await runs.events(runId);

      expect.that(events.length > 0, 'the log of a run that has ended is not empty');
      for (const event of events) expectMembers(context, event, runId);
      const ids = events.map(({ eventId }) => eventId);
      expect.that(new Set(ids).size === ids.length, 'no two events have the same eventId', ids);
    },
  },
  {
    id: 'events/sequences',
    title: 'the log is numbered from 0 without gaps and ends with its only terminal event',
    proves: ['EVT-3', 'EVT-4'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs } = context;
      const runId = await runs.endedRun('conformance-noop');

      expectEndedLog(context, await runs.events(runId));
    },
  },
  {
    id: 'events/started',
    title: 'a log begins with run.started, which names the workflow',
    proves: ['EVT-7'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun('conformance-noop');

      const events = await runs.events(runId);

      expect.equal(events[0]?.['type'], 'run.started', 'the first event is run.started');
      const started = ofType(events, 'run.started');
      expect.that(started.length === 1, 'run.started comes once', outline(events));
      expect.equal(
        payloadOf(started[0])['workflowId'],
        'conformance-noop',
        'run.started names the workflow of the run',
      );
    },
  },
  {
    id: 'events/repeated-reads',
    title: 'the log of a run that has ended is the same at every read',
    proves: ['EVT-5'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, host, expect }) {
      const runId = await runs.endedRun('conformance-noop');

      const path = `/v1/runs/${runId}/events/poll?timeout=1`;
      const reads = [await host.request('GET', path), await host.request('GET', path)];

      const [first, second] = reads.map((read) => {
        expect.status(read, 200);
        const body = expect.object(read.json, 'a poll is answered with an object');
        return expect.array(body['events'], 'a poll answers with the list events');
      });
      expect.equal(second, first, 'a second read of the log gives the same events');
    },
  },
  {
    id: 'events/append-only',
    title: 'what was read of a log while the run was running stays as it was',
    proves: ['EVT-6'],
    needs: { fixtures: ['conformance-delay'] },
    async run(context) {
      const { runs, expect } = context;
      const runId = await runs.create('conformance-delay', { inputs: { delayMs: 300 } });
      await runs.reaches(runId, 'running', 'completed');
      const early = await context.runs.eventsSoFar(runId);
      await runs.ended(runId);

      const late = await runs.events(runId);

      expect.equal(late.slice(0, early.length), early, 'a later read of the log begins with the same events');
    },
  },
  {
    id: 'events/node-events',
    title: 'events of nodes name their node and have the payloads of the catalogue',
    proves: ['EVT-8', 'EVT-9'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun('conformance-multi-node');

      const events = (await runs.events(runId)).filter(({ type }) => String(type).startsWith('node.'));

      expect.that(events.length > 0, 'the log has events of nodes');
      for (const event of events) {
        const type = String(event['type']);
        const nodeId = expect.string(event['nodeId'], `${type} has a nodeId next to its type`);
        const payload = expect.object(event['payload'], `the payload of ${type} is an object`);
        if (type === 'node.started' || type === 'node.completed' || payload['nodeId'] !== undefined)
          expect.equal(payload['nodeId'], nodeId, `the payload of ${type} names the same node`);
        if (type === 'node.started') expectStarted(expect, payload);
        const { outputs } = payload;
        expect.that(
          outputs === undefined || isJsonObject(outputs),
          `outputs of ${type} are an object`,
          outputs,
        );
      }
    },
  },
  {
    id: 'events/node-order',
    title: 'chained nodes complete in the order of their edges',
    proves: ['EVT-13', 'EVT-14'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun('conformance-multi-node');

      const events = await runs.events(runId);

      const completed = ofType(events, 'node.completed').map(({ nodeId }) => nodeId ?? 'nothing');
      expect.equal(completed, ['a', 'b', 'c'], 'the nodes a, b and c complete in this order, each once');
      for (const nodeId of ['a', 'b', 'c']) {
        const own = ofNode(events, nodeId)
          .map(({ type }) => String(type))
          .filter((type) => type.startsWith('node.'));
        expect.equal(own[0], 'node.started', `node ${nodeId} begins with node.started`);
        expect.equal(own.at(-1), 'node.completed', `node ${nodeId} ends with node.completed`);
      }
      const at = (type: string, nodeId: string): number =>
        events.findIndex((event) => event['type'] === type && event['nodeId'] === nodeId);
      for (const [before, after] of [
        ['a', 'b'],
        ['b', 'c'],
      ] as const)
        expect.that(
          at('node.completed', before) < at('node.started', after),
          `node ${after} begins after node ${before} has completed`,
          outline(events),
        );
    },
  },
  {
    id: 'events/failure',
    title: 'a failure is recorded by node.failed and then run.failed, each with its error',
    proves: ['EVT-10', 'EVT-15'],
    needs: { fixtures: ['conformance-failure'] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun('conformance-failure');

      const events = await runs.events(runId);

      const [nodeFailed] = ofType(events, 'node.failed');
      const [runFailed] = ofType(events, 'run.failed');
      const node = expect.object(nodeFailed, 'the log has a node.failed');
      const run = expect.object(runFailed, 'the log has a run.failed');
      expect.that(
        events.indexOf(node) < events.indexOf(run),
        'node.failed comes before run.failed',
        outline(events),
      );
      expect.equal(payloadOf(node)['nodeId'], 'fail', 'the payload of node.failed names the node');
      for (const event of [node, run]) {
        const error = errorOf(payloadOf(event));
        for (const member of ['code', 'message'])
          expect.string(error[member], `${String(event['type'])} has an error with a ${member}`);
      }
    },
  },
  {
    id: 'events/types',
    title: 'every type is of the catalogue, or a vendor name outside the closed vocabularies',
    proves: ['EVT-11', 'EVT-12'],
    needs: { fixtures: ['conformance-multi-node', 'conformance-failure'] },
    async run({ runs, expect }) {
      for (const workflow of ['conformance-multi-node', 'conformance-failure']) {
        const runId = await runs.endedRun(workflow);

        for (const { type } of await runs.events(runId)) {
          const name = expect.string(type, 'the type of an event is a text');
          if (EVENT_TYPES.includes(name) || DISPUTED_TYPES.includes(name)) continue;
          expect.that(
            !CLOSED_PREFIXES.some((prefix) => name.startsWith(prefix)),
            'the vocabularies of the protocol have no names of a vendor',
            name,
          );
          expect.that(isVendorType(name), 'a type is a member of the catalogue or a name of a vendor', name);
        }
      }
    },
  },
  {
    id: 'events/terminal-before-status',
    title: 'a run is not seen as ended before its terminal event can be read',
    proves: ['EVT-16'],
    needs: { fixtures: ['conformance-multi-node', 'conformance-delay'] },
    async run({ runs, host, expect }) {
      const works = [
        ['conformance-multi-node', {}],
        ['conformance-delay', { inputs: { delayMs: 50 } }],
        ['conformance-delay', { inputs: { delayMs: 150 } }],
      ] as const;

      await Promise.all(
        works.map(async ([workflow, rest]) => {
          const runId = await runs.create(workflow, rest);
          const { status } = await runs.ended(runId);
          const answer = await host.request('GET', `/v1/runs/${runId}/events/poll?timeout=1`);
          expect.status(answer, 200);
          const events = isJsonObject(answer.json) ? answer.json['events'] : undefined;
          const last = Array.isArray(events) ? events.at(-1) : undefined;
          expect.equal(
            isJsonObject(last) ? last['type'] : undefined,
            `run.${String(status)}`,
            'the log read after a terminal status ends with the terminal event',
          );
        }),
      );
    },
  },
  {
    id: 'events/nothing-after-end',
    title: 'nothing is appended to the log of a run that has ended',
    proves: ['EVT-17'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, host, expect }) {
      const runId = await runs.endedRun('conformance-noop');
      const before = await runs.events(runId);

      await runs.cancel(runId);
      await host.request('POST', `/v1/runs/${runId}:pause`, { body: {} });
      await host.request('POST', `/v1/runs/${runId}/annotations`, {
        body: { signal: { kind: 'label', label: 'conformance' } },
      });

      const after = await runs.events(runId);
      expect.equal(after, before, 'the log of a run that has ended stays as it is');
    },
  },
  {
    id: 'events/parallel-runs',
    title: 'runs that run at the same time have logs of their own',
    proves: ['EVT-19'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const ids = await Promise.all(Array.from({ length: 5 }, () => runs.create('conformance-multi-node')));
      await Promise.all(ids.map((runId) => runs.ended(runId)));

      const logs = await Promise.all(ids.map((runId) => runs.events(runId)));

      for (const [index, log] of logs.entries()) {
        expectEndedLog(context, log);
        const owners = [...new Set(log.map(({ runId }) => runId ?? 'nothing'))];
        expect.equal(owners, [ids[index]], 'a log has events of its own run alone');
      }
      const all = logs.flat().map(({ eventId }) => String(eventId));
      expect.that(new Set(all).size === all.length, 'no two events of two runs have the same eventId');
    },
  },
  {
    id: 'events/terminal-payloads',
    title: 'what terminal events carry has its type',
    proves: ['EVT-21'],
    needs: { fixtures: ['conformance-noop', 'conformance-identity', 'conformance-cancellable'] },
    async run({ runs, expect }) {
      const noop = await runs.create('conformance-noop');
      const identity = await runs.create('conformance-identity', { inputs: { payload: { a: 1 } } });
      const cancelled = await runs.create('conformance-cancellable');
      await runs.reaches(cancelled, 'running');
      await runs.cancel(cancelled, { reason: 'conformance' });

      for (const runId of [noop, identity, cancelled]) {
        await runs.ended(runId);
        const last = (await runs.events(runId)).at(-1);
        const type = String(last?.['type']);
        const { outputs, durationMs, reason } = payloadOf(last);
        expect.that(
          outputs === undefined || isJsonObject(outputs),
          `the outputs of ${type} are an object`,
          outputs,
        );
        expect.that(
          durationMs === undefined || isWhole(durationMs),
          `the durationMs of ${type} is an integer from 0`,
          durationMs,
        );
        expect.that(
          reason === undefined || typeof reason === 'string',
          `the reason of ${type} is a text`,
          reason,
        );
      }
    },
  },
];

function expectMembers({ expect }: CheckContext, event: JsonObject, runId: string): void {
  const eventId = expect.string(event['eventId'], 'an event has an eventId');
  expect.that(eventId.length <= LONGEST_ID, 'an eventId has at most 128 characters', eventId);
  expect.equal(event['runId'], runId, 'an event names the run whose log it is');
  expect.string(event['type'], 'an event has a type');
  expect.that(Object.hasOwn(event, 'payload'), 'an event has a payload, if only null', event);
  const timestamp = expect.string(event['timestamp'], 'an event has a timestamp');
  expect.that(
    RFC_3339.test(timestamp) && !Number.isNaN(Date.parse(timestamp)),
    'the timestamp of an event is an RFC 3339 time',
    timestamp,
  );
  expect.that(isWhole(event['sequence']), 'the sequence of an event is an integer from 0', event['sequence']);
  for (const name of ['nodeId', 'causationId', 'engineVersion']) {
    const value = event[name];
    if (value === undefined) continue;
    const text = expect.string(value, `${name} of an event is a text`);
    expect.that(text.length <= LONGEST_ID, `${name} of an event has at most 128 characters`, text);
  }
  const { schemaVersion } = event;
  expect.that(
    schemaVersion === undefined || isWhole(schemaVersion),
    'schemaVersion of an event is an integer from 0',
    schemaVersion,
  );
}

function expectStarted(expect: CheckContext['expect'], payload: JsonObject): void {
  expect.string(payload['typeId'], 'the payload of node.started has a typeId');
  const { attempt } = payload;
  expect.that(attempt === undefined || attempt === 0, 'the first attempt of a node is attempt 0', attempt);
}
