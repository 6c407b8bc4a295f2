import { GRPC_STATUS, isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { GrpcEnd, GrpcStreamed } from '../../grpc/grpc-client.ts';
import type { Check, CheckContext } from '../../suite/check.ts';

const NOOP = 'conformance-noop';
const CANCELLABLE = 'conformance-cancellable';
const SLOW = { delayMs: 60_000, delaySeconds: 60 };
const DEBUG = ['debug'];

/** Members that a run has over both transports, whatever else a host adds. */
const COMPARED = ['runId', 'workflowId', 'status', 'startedAt', 'completedAt'] as const;

function expectEnd(
  { expect }: CheckContext,
  { code, envelope }: GrpcEnd,
  status: keyof typeof GRPC_STATUS,
  when: string,
): void {
  expect.equal(nameOf(code), status, `${when} ends as ${status}`);
  const body = expect.object(envelope, `the status of ${when} has an error envelope among its details`);
  expect.string(body['error'], 'the envelope has a code');
  expect.string(body['message'], 'the envelope has a message');
}

function nameOf(code: number): string {
  return Object.entries(GRPC_STATUS).find(([, number]) => number === code)?.[0] ?? String(code);
}

function sequencesOf({ frames }: GrpcStreamed): unknown[] {
  return frames.map(({ runEvent }) => (isJsonObject(runEvent) ? (runEvent['sequence'] ?? 0) : 'no event'));
}

function typesOf({ frames }: GrpcStreamed): unknown[] {
  return frames.map(({ runEvent }) => (isJsonObject(runEvent) ? runEvent['type'] : 'no event'));
}

async function created(
  { grpc, expect }: CheckContext,
  workflowId: string,
  inputs: JsonObject = {},
): Promise<string> {
  const { call } = await grpc();
  const { code, message } = await call('CreateRun', { workflowId, inputs });
  expect.equal(nameOf(code), 'OK', 'a run is created over gRPC');
  return expect.string(message['runId'], 'a created run has a run_id');
}

function picked(document: JsonObject): Json {
  return Object.fromEntries(
    COMPARED.flatMap((name) => (document[name] === undefined ? [] : [[name, document[name]]])),
  );
}

export const GRPC_CHECKS: readonly Check[] = [
  {
    id: 'grpc/capabilities',
    title: 'the service says what the discovery document says',
    proves: ['GRPC-1'],
    async run({ grpc, expect, discovery }) {
      const { call } = await grpc();

      const { code, message } = await call('GetCapabilities', {}, { key: null });

      expect.equal(nameOf(code), 'OK', 'GetCapabilities needs no key');
      for (const name of ['protocolVersion', 'implementation', 'supportedTransports'])
        expect.equal(message[name], discovery[name], `${name} is that of the discovery document`);
    },
  },
  {
    id: 'grpc/runs',
    title: 'a run is the same over both transports',
    proves: ['GRPC-2'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { grpc, runs, expect } = context;
      const runId = await created(context, NOOP);
      const snapshot = await runs.ended(runId);

      const { call } = await grpc();
      const { code, message } = await call('GetRun', { runId });

      expect.equal(nameOf(code), 'OK', 'GetRun reads a run');
      expect.equal(picked(message), picked(snapshot), 'a run over gRPC is the run that REST shows');
    },
  },
  {
    id: 'grpc/cancel',
    title: 'a run is cancelled over gRPC',
    proves: ['GRPC-3'],
    needs: { fixtures: [CANCELLABLE] },
    async run(context) {
      const { grpc, runs, expect } = context;
      const runId = await created(context, CANCELLABLE, SLOW);
      const { call } = await grpc();

      const first = await call('CancelRun', { runId });
      const { status } = await runs.ended(runId);
      const again = await call('CancelRun', { runId });

      expect.equal(nameOf(first.code), 'OK', 'CancelRun is answered with OK');
      expect.equal(status, 'cancelled', 'the run is cancelled');
      expect.equal(again.message['status'], 'cancelled', 'a run that has ended keeps its status');
    },
  },
  {
    id: 'grpc/keys',
    title: 'calls without a valid key are UNAUTHENTICATED',
    proves: ['GRPC-4', 'GRPC-8'],
    async run(context) {
      const { call } = await context.grpc();

      for (const [key, when] of [
        [null, 'a call without a key'],
        ['weft-conformance-unknown', 'a call with an unknown key'],
      ] as const)
        expectEnd(context, await call('GetRun', { runId: 'unknown' }, { key }), 'UNAUTHENTICATED', when);
    },
  },
  {
    id: 'grpc/scopes',
    title: 'a key without the scope is PERMISSION_DENIED',
    proves: ['GRPC-5'],
    needs: { key: 'lowScope' },
    async run(context) {
      const { grpc, keys } = context;
      const { call } = await grpc();

      const end = await call('CancelRun', { runId: 'unknown' }, { key: keys.lowScope ?? null });

      expectEnd(context, end, 'PERMISSION_DENIED', 'a call without the scope');
    },
  },
  {
    id: 'grpc/unknown-runs',
    title: 'runs that a key cannot see are NOT_FOUND',
    proves: ['GRPC-6', 'GRPC-8'],
    async run(context) {
      const { call } = await context.grpc();

      const end = await call('GetRun', { runId: context.unique() });

      expectEnd(context, end, 'NOT_FOUND', 'a call about an unknown run');
      const { error } = end.envelope as JsonObject;
      context.expect.that(String(error).endsWith('not_found'), 'the envelope says so, too', error);
    },
  },
  {
    id: 'grpc/other-tenants',
    title: 'a run of another tenant is as unknown as one that there is not',
    proves: ['GRPC-6'],
    needs: { fixtures: [NOOP], key: 'otherTenant' },
    async run(context) {
      const { grpc, keys, expect, unique } = context;
      const runId = await created(context, NOOP);
      const { call } = await grpc();
      const key = keys.otherTenant ?? null;

      const foreign = await call('GetRun', { runId }, { key });
      const unknown = await call('GetRun', { runId: unique() }, { key });

      expectEnd(context, foreign, 'NOT_FOUND', 'a call about a run of another tenant');
      expect.equal(foreign.envelope, unknown.envelope, 'nothing tells it from an unknown run');
    },
  },
  {
    id: 'grpc/invalid',
    title: 'an invalid request is INVALID_ARGUMENT',
    proves: ['GRPC-7', 'GRPC-8'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { call, stream } = await context.grpc();
      const runId = await created(context, NOOP);

      expectEnd(context, await call('CreateRun', {}), 'INVALID_ARGUMENT', 'a run without a workflow');
      expectEnd(
        context,
        await stream('StreamRunEvents', { runId, streamModes: ['nonsense'] }),
        'INVALID_ARGUMENT',
        'a stream in a mode that there is not',
      );
    },
  },
  {
    id: 'grpc/stream',
    title: 'a stream has the log of the run, and ends with it',
    proves: ['GRPC-9'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { grpc, runs, expect } = context;
      const runId = await created(context, NOOP);
      const { stream } = await grpc();

      const streamed = await stream('StreamRunEvents', { runId, streamModes: DEBUG });

      const log = await runs.events(runId);
      expect.equal(nameOf(streamed.code), 'OK', 'a stream closes with OK after the terminal event');
      expect.equal(
        sequencesOf(streamed),
        log.map(({ sequence }) => sequence),
        'the stream has every event once, in order',
      );
      expect.equal(
        typesOf(streamed),
        log.map(({ type }) => type),
        'the events are those of the log',
      );
    },
  },
  {
    id: 'grpc/resumed',
    title: 'a stream continues after the last sequence that was seen',
    proves: ['GRPC-10'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { grpc, runs, expect } = context;
      const runId = await created(context, NOOP);
      await runs.ended(runId);
      const { stream } = await grpc();

      const all = await stream('StreamRunEvents', { runId, streamModes: DEBUG });
      const rest = await stream('StreamRunEvents', { runId, streamModes: DEBUG, lastSequence: 0 });

      expect.equal(sequencesOf(all)[0], 0, 'a stream without last_sequence begins with the first event');
      expect.equal(
        sequencesOf(rest),
        sequencesOf(all).slice(1),
        'a stream after 0 begins with the event after it',
      );
    },
  },
  {
    id: 'grpc/reader-leaves',
    title: 'a reader that leaves does not cancel the run',
    proves: ['GRPC-11'],
    needs: { fixtures: [CANCELLABLE] },
    async run(context) {
      const { grpc, runs, expect } = context;
      const runId = await created(context, CANCELLABLE, SLOW);
      const { stream, call } = await grpc();
      await runs.reaches(runId, 'running', 'waiting-external');

      await stream(
        'StreamRunEvents',
        { runId, streamModes: DEBUG },
        { enough: (frames) => frames.length > 0 },
      );

      for (let look = 0; look < 5; look += 1) {
        const { status } = await runs.snapshot(runId);
        expect.that(
          status !== 'cancelled' && status !== 'cancelling',
          'the run continues without its reader',
          status,
        );
        // A round trip on the connection that was left.
        await call('GetRun', { runId });
      }
      await runs.cancel(runId);
    },
  },
  {
    id: 'grpc/repeated',
    title: 'a repeated call under one idempotency key is one call',
    proves: ['GRPC-12'],
    needs: { fixtures: [NOOP] },
    async run(context) {
      const { grpc, expect, unique } = context;
      const { call } = await grpc();
      const options = { metadata: { 'idempotency-key': unique() } };

      const first = await call('CreateRun', { workflowId: NOOP }, options);
      const again = await call('CreateRun', { workflowId: NOOP }, options);
      const other = await call('CreateRun', { workflowId: NOOP, tags: ['another'] }, options);

      expect.equal(nameOf(first.code), 'OK', 'the first call creates a run');
      expect.equal(again.message['runId'], first.message['runId'], 'the second call gets the first answer');
      expectEnd(context, other, 'ABORTED', 'another request under the same key');
    },
  },
];
