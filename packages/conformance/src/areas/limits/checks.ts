import type { JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { errorOf, ofNode, ofType, outline, payloadOf } from '../events/log.ts';

/** The fixture has six nodes in a row. */
const NODES = 6;
const MISSING_CAPABILITY = 'conformance.never-provided';

export const LIMITS_CHECKS: readonly Check[] = [
  {
    id: 'limits/node-executions',
    title: 'a run that wants to start more nodes than it may ends as failed, and says so once',
    proves: ['CAP-1', 'CAP-2', 'CAP-4'],
    needs: { fixtures: ['conformance-cap-breach'] },
    async run(context) {
      const { runs, expect } = context;
      const limit = 3;
      const runId = await runs.create('conformance-cap-breach', { configurable: { recursionLimit: limit } });

      const ended = await runs.ended(runId);

      expectFailed(context, ended, 'recursion_limit_exceeded');
      const events = await runs.events(runId);
      const breach = expectBreach(context, events, 'node-executions', limit);
      const started = ofType(events, 'node.started').length;
      expect.that(started <= limit, 'no more nodes are started than the limit says', outline(events), limit);
      expect.that(
        ofType(events.slice(events.indexOf(breach)), 'node.started').length === 0,
        'no node is started after the breach',
        outline(events),
      );
    },
  },
  {
    id: 'limits/breach-node',
    title: 'the breach of node-executions names the node that was not started',
    proves: ['CAP-3'],
    needs: { fixtures: ['conformance-cap-breach'] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun('conformance-cap-breach', { configurable: { recursionLimit: 3 } });

      const events = await runs.events(runId);

      const [breach] = ofType(events, 'cap.breached');
      const nodeId = expect.string(payloadOf(breach)['nodeId'], 'the payload of cap.breached has a nodeId');
      expect.that(
        ofType(ofNode(events, nodeId), 'node.started').length === 0,
        'the node that cap.breached names is not started',
        outline(events),
      );
    },
  },
  {
    id: 'limits/exact-limit',
    title: 'a run that starts exactly as many nodes as it may completes',
    proves: ['CAP-5'],
    needs: { fixtures: ['conformance-cap-breach'] },
    async run({ runs, expect }) {
      for (const options of [{ configurable: { recursionLimit: NODES } }, {}]) {
        const runId = await runs.create('conformance-cap-breach', options);

        const ended = await runs.ended(runId);

        expect.equal(ended['status'], 'completed', 'a run within its limit completes');
        const events = await runs.events(runId);
        expect.that(
          ofType(events, 'cap.breached').length === 0,
          'a run within its limit has no cap.breached',
          outline(events),
        );
      }
    },
  },
  {
    id: 'limits/bad-recursion-limit',
    title: 'a recursionLimit that is not an integer or below 1 is refused on creation',
    proves: ['CAP-6'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      for (const recursionLimit of [0, -1, 1.5, 'three'])
        expect.envelope(await runs.tryCreate('conformance-noop', { configurable: { recursionLimit } }), {
          status: [400, 422],
        });
    },
  },
  {
    id: 'limits/ceiling',
    title: "a recursionLimit above the host's ceiling is lowered or refused",
    proves: ['CAP-7'],
    needs: { fixtures: ['conformance-noop'] },
    async run({ runs, expect }) {
      const configurable = { recursionLimit: 2_000_000_000 };

      const answer = await runs.tryCreate('conformance-noop', { configurable });

      expect.status(answer, 201, 400, 422);
      if (answer.status !== 201) return;
      const { runId } = expect.object(answer.json, 'a created run is answered with an object');
      const ended = await runs.ended(expect.string(runId, 'a created run has a runId'));
      expect.equal(ended['status'], 'completed', 'a run whose limit was lowered runs within it');
    },
  },
  {
    id: 'limits/run-duration',
    title: 'a run that lasts longer than it may ends as failed, and says so once',
    proves: ['CAP-8', 'CAP-9'],
    needs: { fixtures: ['conformance-run-duration-breach'] },
    async run(context) {
      const { runs, expect } = context;
      const limit = 1_000;
      const runId = await runs.create('conformance-run-duration-breach', {
        configurable: { runTimeoutMs: limit },
      });

      const ended = await runs.ended(runId);

      expectFailed(context, ended, 'run_timeout');
      const events = await runs.events(runId);
      expectBreach(context, events, 'run-duration', limit);
      expect.that(
        ofType(events, 'node.completed').length === 0,
        'the node of a run that was ended does not complete',
        outline(events),
      );
    },
  },
  {
    id: 'limits/bad-run-timeout',
    title: 'a runTimeoutMs that is not a number or below 1 is refused on creation',
    proves: ['CAP-10'],
    // A host that has this fixture has the limit.
    needs: { fixtures: ['conformance-run-duration-breach'] },
    async run({ runs, expect }) {
      for (const runTimeoutMs of [0, -1_000, 'soon'])
        expect.envelope(
          await runs.tryCreate('conformance-run-duration-breach', { configurable: { runTimeoutMs } }),
          { status: [400, 422] },
        );
    },
  },
  {
    id: 'limits/loop-iterations',
    title: 'an orchestrator that wants to decide more often than it may ends its run as failed',
    proves: ['CAP-11', 'CAP-12'],
    needs: { fixtures: ['conformance-dispatch-loop'] },
    async run(context) {
      const { runs, expect } = context;
      const limit = 1;
      const runId = await runs.create('conformance-dispatch-loop', {
        configurable: { maxLoopIterations: limit },
      });

      const ended = await runs.ended(runId);

      expectFailed(context, ended, 'loop_limit_exceeded');
      const events = await runs.events(runId);
      expectBreach(context, events, 'loop-iterations', limit);
      expect.that(
        ofType(events, 'runOrchestrator.decided').length <= limit,
        'no more decisions are recorded than the limit says',
        outline(events),
      );
    },
  },
  {
    id: 'limits/capability-missing',
    title: 'a node that requires what the host does not provide is refused when it is to run',
    proves: ['CAP-13', 'CAP-14'],
    needs: { fixtures: ['conformance-capability-missing'] },
    async run(context) {
      const { runs, discovery, expect } = context;
      const runId = await runs.create('conformance-capability-missing');

      const ended = await runs.ended(runId);

      expectFailed(context, ended, 'capability_not_provided');
      const message = expect.string(errorOf(ended)['message'], 'the error of a failed run has a message');
      expect.that(
        message.includes(MISSING_CAPABILITY),
        'the message names the capability that is missing',
        message,
        MISSING_CAPABILITY,
      );
      const provided = advertised(discovery, 'runtimeCapabilities');
      expect.that(
        !Array.isArray(provided) || !provided.includes(MISSING_CAPABILITY),
        'runtimeCapabilities does not list what is not provided',
        provided,
      );
    },
  },
  {
    id: 'limits/capability-order',
    title: 'a node that is refused for a missing capability is not started',
    proves: ['CAP-15'],
    needs: { fixtures: ['conformance-capability-missing'] },
    async run({ runs, expect }) {
      const runId = await runs.endedRun('conformance-capability-missing');

      const events = await runs.events(runId);

      const own = events.filter(({ type }) =>
        ['node.started', 'node.failed', 'run.failed'].includes(String(type)),
      );
      expect.equal(
        own.map(({ type }) => type ?? 'nothing'),
        ['node.failed', 'run.failed'],
        'a refused node has node.failed without node.started, then the run has run.failed',
      );
    },
  },
  {
    id: 'limits/replayed-breach',
    title: 'a replay has the breach of its source',
    proves: ['CAP-16'],
    needs: { fixtures: ['conformance-cap-breach'] },
    async run({ runs, expect }) {
      const source = await runs.endedRun('conformance-cap-breach', { configurable: { recursionLimit: 3 } });

      const answer = await runs.fork(source, { mode: 'replay', fromSeq: 0 });

      expect.status(answer, 201);
      const { runId } = expect.object(answer.json, 'a fork is answered with an object');
      const fork = expect.string(runId, 'a fork has a runId');
      await runs.ended(fork);
      const [original] = ofType(await runs.events(source), 'cap.breached');
      const [replayed] = ofType(await runs.events(fork), 'cap.breached');
      for (const member of ['kind', 'limit', 'observed'])
        expect.equal(
          payloadOf(replayed)[member],
          payloadOf(original)[member],
          `the ${member} of a breach is the same in a replay`,
        );
    },
  },
];

function expectFailed({ expect }: CheckContext, ended: JsonObject, code: string): void {
  expect.equal(ended['status'], 'failed', 'a run that breaks a limit ends as failed');
  expect.equal(errorOf(ended)['code'], code, `the error of the run is ${code}`);
}

/** Exactly one breach of this kind, above its limit, before the failure of the run. */
function expectBreach(
  { expect }: CheckContext,
  events: readonly JsonObject[],
  kind: string,
  limit: number,
): JsonObject {
  const breaches = ofType(events, 'cap.breached');
  expect.that(breaches.length === 1, 'a breach is recorded by exactly one cap.breached', outline(events));
  const breach = expect.object(breaches[0], 'cap.breached is an event');
  const payload = payloadOf(breach);
  expect.equal(payload['kind'], kind, `the kind of the breach is ${kind}`);
  expect.equal(payload['limit'], limit, 'cap.breached has the limit that was given');
  const { observed } = payload;
  expect.that(
    typeof observed === 'number' && observed > limit,
    'what cap.breached observed is above the limit',
    observed,
  );
  const failed = events.findIndex(({ type }) => type === 'run.failed');
  expect.that(events.indexOf(breach) < failed, 'cap.breached comes before run.failed', outline(events));
  return breach;
}
