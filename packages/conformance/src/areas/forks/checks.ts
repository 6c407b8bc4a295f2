import type { Json, JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import type { Answer } from '../../suite/host-client.ts';
import { shallowly } from '../diff/oracle.ts';
import {
  errorOf,
  isRising,
  ofType,
  payloadOf,
  sequencesOf,
  TERMINAL_EVENTS,
  typesOf,
} from '../events/log.ts';
import { approve, waitingRun } from '../streams/reading.ts';
import { FORK_REQUEST_CHECKS } from './requests.ts';

const SIDE_EFFECT = 'conformance-replay-side-effect';

export const FORKS_CHECKS: readonly Check[] = [
  {
    id: 'forks/advertised-modes',
    title: 'the modes of forks are advertised',
    proves: ['FORK-1'],
    async run({ host, expect }) {
      const answer = await host.request('GET', '/.well-known/openwop');
      const discovery = expect.object(answer.json, 'discovery is an object');

      const modes = expect.array(advertised(discovery, 'replay.modes'), 'replay.modes is a list');

      expect.that(modes.length > 0, 'replay.modes is not empty');
      for (const mode of modes)
        expect.that(
          mode === 'replay' || mode === 'branch',
          'replay.modes holds replay and branch alone',
          mode,
        );
    },
  },
  {
    id: 'forks/from-the-start',
    title: 'a fork from 0 is a run of its own that ends',
    proves: ['FORK-2', 'FORK-3', 'FORK-4', 'FORK-7', 'FORK-8'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { host, runs, expect } = context;
      const source = await context.runs.endedRun('conformance-noop');
      const before = { run: await runs.snapshot(source), log: await runs.events(source) };
      for (const mode of modesOf(context)) {
        const answer = await runs.fork(source, { mode, fromSeq: 0 });

        const fork = forkOf(context, answer, source, mode, 0);
        await runs.ended(fork.runId);
        await numbersOn(context, fork.runId, 0);
        const url = new URL(expect.string(fork.body['eventsUrl'], 'a fork has an eventsUrl'), host.url);
        const events = await host.stream(`${url.pathname}${url.search}`);
        await events.close();
        expect.equal(events.status, 200, 'eventsUrl leads to the events of the fork');
      }
      const after = { run: await runs.snapshot(source), log: await runs.events(source) };
      expect.equal(after.log, before.log, 'a fork leaves the log of its source as it was');
      expect.equal(after.run['status'], before.run['status'], 'a fork leaves its source ended');
    },
  },
  {
    id: 'forks/from-the-middle',
    title: 'a fork from the middle inherits what came before, and is executed from there',
    proves: ['FORK-3', 'FORK-5', 'FORK-6', 'FORK-7'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const source = await context.runs.endedRun('conformance-multi-node');
      const log = await runs.events(source);
      const fromSeq = afterNode(context, log, 'b');
      for (const mode of modesOf(context)) {
        const fork = forkOf(context, await runs.fork(source, { mode, fromSeq }), source, mode, fromSeq);
        const { status } = await runs.ended(fork.runId);

        expect.equal(status, 'completed', 'a fork from the middle completes');
        const events = await numbersOn(context, fork.runId, fromSeq);
        const inherited = events.filter((event) => Number(event['sequence']) < fromSeq);
        expect.equal(
          inherited.map(inheritedOf),
          log.filter((event) => Number(event['sequence']) < fromSeq).map(inheritedOf),
          'events before fromSeq are inherited with sequence, type, node, payload and time',
        );
        const ids = new Set(log.map(({ eventId }) => eventId));
        for (const event of inherited) {
          expect.equal(event['runId'], fork.runId, 'an inherited event has the runId of the fork');
          expect.that(!ids.has(event['eventId']), 'an inherited event has an eventId of its own', event);
        }
        const executed = events.filter(isFrom(fromSeq));
        const completed = executed
          .filter(({ type }) => type === 'node.completed')
          .map(({ nodeId }) => nodeId);
        expect.equal(completed, ['c'], 'nodes that ended before fromSeq are not executed again');
      }
    },
  },
  {
    id: 'forks/equal-replays',
    title: 'two replays from the same point are the same',
    proves: ['FORK-9'],
    needs: { fixtures: ['conformance-multi-node'] },
    async run(context) {
      const { runs, expect } = context;
      const source = await context.runs.endedRun('conformance-multi-node');
      for (const fromSeq of [0, afterNode(context, await runs.events(source), 'b')]) {
        const first = await replayOf(context, source, fromSeq);
        const second = await replayOf(context, source, fromSeq);

        expect.equal(
          second.events.filter(isFrom(fromSeq)).map(observedOf),
          first.events.filter(isFrom(fromSeq)).map(observedOf),
          `two replays from ${fromSeq} have the same types, nodes and payloads`,
        );
      }
    },
  },
  {
    id: 'forks/replay-as-source',
    title: 'a replay does again what its source did',
    proves: ['FORK-10', 'FORK-15'],
    needs: { fixtures: ['conformance-identity', 'conformance-failure', 'conformance-multi-node'] },
    async run(context) {
      const { runs, expect, unique } = context;
      const inputs = { payload: { text: unique(), list: [1, 2, { deep: null }] } };
      for (const [fixture, rest] of [
        ['conformance-identity', { inputs }],
        ['conformance-failure', {}],
        ['conformance-multi-node', {}],
      ] as const) {
        const source = await context.runs.endedRun(fixture, rest);

        const replay = await replayOf(context, source, 0);

        const log = await runs.events(source);
        expect.equal(
          replay.events.map(({ type, nodeId }) => [type, nodeId ?? null]),
          log.map(({ type, nodeId }) => [type, nodeId ?? null]),
          'a replay has the types and nodes of its source, in the same order',
        );
        const run = await runs.snapshot(source);
        for (const name of ['status', 'variables', 'channels'])
          expect.equal(replay.run[name], run[name], `a replay ends with the ${name} of its source`);
      }
    },
  },
  {
    id: 'forks/replay-of-an-answer',
    title: 'a replay takes the recorded answer',
    proves: ['FORK-11', 'FORK-15'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId: source } = await waitingRun(context);
      await approve(context, source);
      await runs.ended(source);

      const replay = await replayOf(context, source, 0);

      expect.equal(replay.run['status'], 'completed', 'a replay ends without a new answer');
      const types = typesOf(replay.events);
      expect.that(types.includes('interrupt.resolved'), 'a replay shows the recorded answer', types);
    },
  },
  {
    id: 'forks/replay-of-a-child',
    title: 'a replay shows the recorded child run',
    proves: ['FORK-12'],
    needs: { fixtures: ['conformance-subworkflow-parent', 'conformance-subworkflow-child'] },
    async run(context) {
      const { runs, expect } = context;
      const source = await context.runs.endedRun('conformance-subworkflow-parent');
      const log = await runs.events(source);
      expect.that(childIdsOf(log).length > 0, 'the log of a parent names its child run');

      const replay = await replayOf(context, source, 0);

      expect.equal(childIdsOf(replay.events), childIdsOf(log), 'a replay names the child run of its source');
    },
  },
  {
    id: 'forks/replay-is-not-delivered',
    title: 'events of a replay are not delivered',
    proves: ['FORK-14'],
    needs: { fixtures: ['conformance-noop'], peer: 'webhook' },
    async run(context) {
      const { host, peers, expect, discovery, eventually, notApplicable } = context;
      const receiver = peers.webhook;
      if (receiver === undefined || advertised(discovery, 'webhooks.supported') !== true)
        return notApplicable('the host has no webhooks');
      const url = receiver.newUrl();
      const body = { url, events: ['run.completed'] };
      const registered = await host.request('POST', '/v1/webhooks', { body });
      expect.status(registered, 201, 200);
      const { webhookId } = expect.object(registered.json, 'a webhook is answered with an object');
      const delivered = (runId: string): boolean =>
        receiver.deliveriesTo(url).some(({ rawBody }) => rawBody.includes(runId));
      const source = await context.runs.endedRun('conformance-noop');
      await eventually('the end of a run is delivered', async () => delivered(source) || undefined);

      const replay = await replayOf(context, source, 0);

      // What came after the replay has been delivered, so the replay would have been too.
      const later = await context.runs.endedRun('conformance-noop');
      await eventually('the end of a later run is delivered', async () => delivered(later) || undefined);
      expect.that(!delivered(String(replay.run['runId'])), 'the end of a replay is not delivered');
      await host.request('DELETE', `/v1/webhooks/${String(webhookId)}`);
      return undefined;
    },
  },
  {
    id: 'forks/replay-of-a-cancelled-run',
    title: 'a replay of a cancelled run continues, and misses what was not done',
    proves: ['FORK-34'],
    needs: { fixtures: [SIDE_EFFECT] },
    async run(context) {
      const { runs, expect, eventually } = context;
      const source = await runs.create(SIDE_EFFECT, { inputs: { delayMs: 600_000 } });
      await eventually('the run waits in its first node', async () =>
        typesOf(await runs.eventsSoFar(source)).includes('node.started') ? true : undefined,
      );
      await runs.cancel(source);
      await runs.ended(source);

      const { run, events: log } = await replayOf(context, source, 0);

      expect.equal(
        run['status'],
        'failed',
        'the replay of a run that was cancelled in front of an effect fails',
      );
      const failed = log.find(({ type }) => type === 'node.failed');
      expect.equal(
        errorOf(payloadOf(failed))['code'],
        'replay_source_missing',
        'the effect that the source has not recorded fails with replay_source_missing',
      );
    },
  },
  {
    id: 'forks/replay-of-an-effect',
    title: 'a replay takes the recorded outcome of an effect',
    proves: ['FORK-35'],
    needs: { fixtures: [SIDE_EFFECT] },
    async run(context) {
      const { runs, expect } = context;
      const source = await runs.endedRun(SIDE_EFFECT, { inputs: { delayMs: 1 } });

      const { run, events: log } = await replayOf(context, source, 0);

      expect.equal(run['status'], 'completed', 'the replay of a run that completed completes');
      expect.equal(
        outcomesOf(log),
        outcomesOf(await runs.events(source)),
        'the outcomes are those of the source',
      );
    },
  },
  {
    id: 'forks/branch-asks-again',
    title: 'a branch asks again, and may be answered otherwise',
    proves: ['FORK-17'],
    needs: { fixtures: ['conformance-approval'] },
    async run(context) {
      const { runs, expect } = context;
      const { runId: source, events } = await waitingRun(context);
      const fromSeq = Number(events.at(-1)?.['sequence']) + 1;
      await approve(context, source);
      await runs.ended(source);

      const answer = await runs.fork(source, { mode: 'branch', fromSeq });
      const { runId } = forkOf(context, answer, source, 'branch', fromSeq);
      await runs.reaches(runId, 'waiting-approval');
      expect.status(await runs.resolve(runId, 'gate', { action: 'reject' }), 200);

      const { status } = await runs.ended(runId);
      expect.that(
        status !== 'completed',
        'a branch that was rejected does not complete as its source did',
        status,
      );
      expect.equal(
        (await runs.snapshot(source))['status'],
        'completed',
        'a branch leaves its source as it was',
      );
    },
  },
  {
    id: 'forks/branch-overlay',
    title: 'the overlay of a branch counts',
    proves: ['FORK-18'],
    needs: { fixtures: ['conformance-cap-breach'] },
    async run(context) {
      const { runs, expect } = context;
      const source = await context.runs.endedRun('conformance-cap-breach');
      expect.equal(
        (await runs.snapshot(source))['status'],
        'completed',
        'the source completes without a limit',
      );
      const runOptionsOverlay = { configurable: { recursionLimit: 3 } };

      const answer = await runs.fork(source, { mode: 'branch', fromSeq: 0, runOptionsOverlay });

      const { runId } = forkOf(context, answer, source, 'branch', 0);
      const run = await runs.ended(runId);
      expect.equal(
        run['status'],
        'failed',
        'a branch with a lower recursionLimit fails where its source did not',
      );
      const { code } = expect.object(run['error'], 'a run that failed has an error');
      expect.equal(
        code,
        'recursion_limit_exceeded',
        'a branch is bound by the recursionLimit of its overlay',
      );
    },
  },
  {
    id: 'forks/branch-overlay-is-merged',
    title: 'the overlay of a branch is laid over the options of its source',
    proves: ['FORK-19'],
    needs: { fixtures: ['conformance-noop'] },
    async run(context) {
      const { runs, expect, notApplicable } = context;
      const metadata = { 'example.kept': 'from the source', 'example.changed': 'from the source' };
      const source = await context.runs.endedRun('conformance-noop', { metadata, tags: ['source'] });
      const run = await runs.snapshot(source);
      if (run['metadata'] === undefined || run['tags'] === undefined)
        return notApplicable('the host does not show the options of a run');
      const runOptionsOverlay = { metadata: { 'example.changed': 'from the overlay' }, tags: ['overlay'] };

      const answer = await runs.fork(source, { mode: 'branch', fromSeq: 0, runOptionsOverlay });

      const { runId } = forkOf(context, answer, source, 'branch', 0);
      const branch = await runs.ended(runId);
      expect.equal(
        branch['metadata'],
        { ...metadata, 'example.changed': 'from the overlay' },
        'metadata of the overlay is laid over that of the source',
      );
      const tags = expect.array(branch['tags'], 'a branch has tags');
      expect.that(tags.includes('overlay'), 'a branch has the tags of the overlay', tags);
      return undefined;
    },
  },
  ...FORK_REQUEST_CHECKS,
];

/** What the discovery document promises. */
function outcomesOf(log: readonly JsonObject[]): Json[] {
  return ofType(log, 'node.completed').map((event) => payloadOf(event)['outputs'] ?? null);
}

function modesOf({ discovery }: CheckContext): string[] {
  const modes = advertised(discovery, 'replay.modes');
  return Array.isArray(modes) ? modes.filter((mode) => typeof mode === 'string') : [];
}

/** A fork as it is answered. A host may advertise a mode and not have it yet: 501. */
function forkOf(
  { expect, notApplicable }: CheckContext,
  answer: Answer,
  source: string,
  mode: string,
  fromSeq: number,
): { readonly runId: string; readonly body: JsonObject } {
  if (answer.status === 501)
    return notApplicable(`the host does not fork with mode ${mode} from here yet (501)`);
  expect.status(answer, 201);
  const body = expect.object(answer.json, 'a fork is answered with an object');
  const runId = expect.string(body['runId'], 'a fork has a runId');
  expect.that(runId !== source, 'a fork is a run of its own', runId);
  expect.equal(body['sourceRunId'], source, 'a fork names its source');
  expect.equal(body['mode'], mode, 'a fork names its mode');
  expect.string(body['status'], 'a fork has a status');
  if (body['fromSeq'] !== undefined) expect.equal(body['fromSeq'], fromSeq, 'a fork names its fromSeq');
  return { runId, body };
}

async function replayOf(context: CheckContext, source: string, fromSeq: number) {
  const { runs, expect } = context;
  const answer = await runs.fork(source, { mode: 'replay', fromSeq });
  const { runId } = forkOf(context, answer, source, 'replay', fromSeq);
  const run = await runs.ended(runId);
  const events = await runs.events(runId);
  const diverged = events.filter(({ type }) => type === 'replay.diverged');
  expect.that(diverged.length === 0, 'a replay of what can be repeated reports no divergence', diverged);
  return { run, events };
}

/** The log of a fork that has ended: without a gap, and with one terminal event at its end. */
async function numbersOn(
  { runs, expect }: CheckContext,
  runId: string,
  fromSeq: number,
): Promise<JsonObject[]> {
  const events = await runs.events(runId);
  const sequences = sequencesOf(events);
  const first = Number(sequences[0]);
  expect.that(isRising(sequences), 'the events of a fork are in the order of their sequences', sequences);
  expect.equal(Number(sequences.at(-1)) - first + 1, events.length, 'the log of a fork has no gap');
  expect.that(
    sequences.includes(fromSeq),
    'the first event that a fork makes has the sequence fromSeq',
    sequences,
  );
  const terminal = typesOf(events).filter((type) => TERMINAL_EVENTS.includes(type));
  expect.equal(terminal.length, 1, 'a fork has one terminal event');
  expect.that(
    TERMINAL_EVENTS.includes(typesOf(events).at(-1) ?? ''),
    'the terminal event of a fork is its last',
  );
  return events;
}

function isFrom(fromSeq: number) {
  return ({ sequence }: JsonObject): boolean => Number(sequence) >= fromSeq;
}

/** The sequence after the end of a node. */
function afterNode({ expect }: CheckContext, log: readonly JsonObject[], node: string): number {
  const end = log.find(({ type, nodeId }) => type === 'node.completed' && nodeId === node);
  return expect.integer(end?.['sequence'], `the log shows the end of node ${node}`) + 1;
}

function inheritedOf({ sequence, type, nodeId, payload, timestamp }: JsonObject): JsonObject {
  return {
    sequence: sequence ?? null,
    type: type ?? null,
    nodeId: nodeId ?? null,
    payload: shallowly(payload ?? null),
    timestamp: timestamp ?? null,
  };
}

/** What an execution shows of itself: how long it took is not part of it. */
function observedOf({ type, nodeId, payload }: JsonObject): JsonObject {
  const observed = shallowly(payload ?? null);
  const kept =
    observed !== null && typeof observed === 'object' && !Array.isArray(observed)
      ? Object.fromEntries(Object.entries(observed).filter(([name]) => name !== 'durationMs'))
      : observed;
  return { type: type ?? null, nodeId: nodeId ?? null, payload: kept };
}

function childIdsOf(events: readonly JsonObject[]): string[] {
  return [...JSON.stringify(events).matchAll(/"childRunId":"([^"]*)"/g)].map(([, id]) => id ?? '');
}
