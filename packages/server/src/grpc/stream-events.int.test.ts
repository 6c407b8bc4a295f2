import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { GRPC_STATUS, type Json, type JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelopeOf } from '../testing/grpc-client.ts';
import { type GrpcHarness, openGrpcHarness } from '../testing/grpc-harness.ts';

let at: GrpcHarness;
beforeAll(async () => {
  at = await openGrpcHarness({ stallMs: 500, maxStreamsPerTenant: 5 });
});
afterAll(() => at.close());

interface Reading {
  readonly frames: JsonObject[];
  readonly stream: ClientReadableStream<JsonObject>;
  /** Of the status that the stream ended with. */
  readonly ended: Promise<{ readonly code: number; readonly envelope: string | undefined }>;
  until(condition: (frames: readonly JsonObject[]) => boolean): Promise<void>;
}

function follow(request: object, options: Parameters<GrpcHarness['stream']>[2] = {}): Reading {
  const stream = at.stream('StreamRunEvents', request, options);
  const frames: JsonObject[] = [];
  const watchers = new Set<() => void>();
  stream.on('data', (frame: JsonObject) => {
    frames.push(frame);
    for (const watcher of watchers) watcher();
  });
  const ended = new Promise<{ code: number; envelope: string | undefined }>((resolve) => {
    stream.on('error', (error: ServiceError) =>
      resolve({ code: error.code, envelope: String(envelopeOf(error.metadata)?.['error']) }),
    );
    stream.on('end', () => resolve({ code: 0, envelope: undefined }));
  });
  return {
    frames,
    stream,
    ended,
    until: (condition) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!condition(frames)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
  };
}

const types = (frames: readonly JsonObject[]): unknown[] => frames.map(({ event }) => event);

/** A sequence of 0 is not told apart from none. */
function eventsIn(frames: readonly JsonObject[]): Json[] {
  return frames.map(({ runEvent }) => ({ sequence: 0, ...(runEvent as JsonObject) }));
}

async function logOf(runId: string): Promise<JsonObject[]> {
  const { text } = await at.call('GET', `/v1/runs/${runId}/events/poll?timeout=1&limit=1000`);
  return (JSON.parse(text) as { events: JsonObject[] }).events;
}

async function running(): Promise<string> {
  const { runId } = await at.start('wait');
  await at.reaches(runId, 'running');
  return runId;
}

const cancel = (runId: string) => at.call('POST', `/v1/runs/${runId}/cancel`);

describe('a stream of the events of a run', () => {
  it('of one that has ended has all of them in order, and ends with OK', async () => {
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');

    const { frames, ended } = follow({ run_id: runId, stream_modes: ['debug'] });

    expect(await ended).toEqual({ code: 0, envelope: undefined });
    expect(eventsIn(frames)).toEqual(await logOf(runId));
    expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index));
  });

  it('follows a run live, and ends after the terminal event', async () => {
    const runId = await running();
    const { frames, ended, until } = follow({ run_id: runId });
    await until((seen) => seen.length > 0);

    await cancel(runId);

    expect((await ended).code).toBe(0);
    expect(types(frames).at(-1)).toBe('run.cancelled');
  });

  it('continues after the last sequence that was seen; unset and -1 mean from the first', async () => {
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');
    const modes = { stream_modes: ['debug'] };

    const all = [follow({ run_id: runId, ...modes }), follow({ run_id: runId, last_sequence: -1, ...modes })];
    const rest = follow({ run_id: runId, last_sequence: 0, ...modes });
    const none = follow({ run_id: runId, last_sequence: 1_000, ...modes });
    await Promise.all([...all, rest, none].map(({ ended }) => ended));

    expect(all[0]?.frames).toEqual(all[1]?.frames);
    expect(rest.frames).toEqual(all[0]?.frames.slice(1));
    expect(none.frames).toEqual([]);
  });

  it('that was broken off is continued without a gap and without repetition', async () => {
    const runId = await running();
    const first = follow({ run_id: runId, stream_modes: ['debug'] });
    await first.until((frames) => frames.length >= 2);
    first.stream.cancel();
    expect((await first.ended).code).toBe(GRPC_STATUS.CANCELLED);

    const second = follow({
      run_id: runId,
      stream_modes: ['debug'],
      last_sequence: first.frames.at(-1)?.['sequence'],
    });
    await cancel(runId);
    await second.ended;

    expect(eventsIn([...first.frames, ...second.frames])).toEqual(await logOf(runId));
    expect((await at.call('GET', `/v1/runs/${runId}`)).json['status']).toBe('cancelled');
  });

  it('in the mode values has snapshots, from where the reader continues', async () => {
    const runId = await running();
    const { frames, ended, until } = follow({ run_id: runId, stream_modes: ['values'], last_sequence: 0 });
    await until((seen) => seen.length > 0);

    await cancel(runId);
    await ended;

    expect(new Set(types(frames))).toEqual(new Set(['state.snapshot']));
    expect(frames.at(-1)?.['snapshot']).toMatchObject({ runId, status: 'cancelled' });
  });

  it('with a window gathers what comes into batches', async () => {
    const { runId } = await at.start('noop');
    await at.reaches(runId, 'completed');

    const { frames, ended } = follow({ run_id: runId, stream_modes: ['debug'], buffer_ms: 1_000 });
    await ended;

    const batched = frames.flatMap(({ batch }) => (batch as { frames: JsonObject[] }).frames);
    expect(types(frames)).toEqual(types(frames).map(() => 'batch'));
    expect(eventsIn(batched)).toEqual(await logOf(runId));
    expect(frames.at(-1)?.['sequence']).toBe(batched.at(-1)?.['sequence']);
  });

  it('tells annotations between the events, without a sequence', async () => {
    const runId = await running();
    const { frames, until, stream } = follow({ run_id: runId });
    await until((seen) => seen.length > 0);

    await at.call('POST', `/v1/runs/${runId}/annotations`, { body: { signal: { kind: 'flag' } } });
    await until((seen) => types(seen).includes('run.annotated'));
    stream.cancel();

    const notice = frames.find(({ event }) => event === 'run.annotated');
    expect(notice?.['annotation']).toMatchObject({ runId, payload: { signal: { kind: 'flag' } } });
    expect(notice).not.toHaveProperty('sequence');
    await cancel(runId);
  });

  it.each<[string, object, number, string]>([
    ['an unknown run', { run_id: 'unknown' }, GRPC_STATUS.NOT_FOUND, 'not_found'],
    [
      'an unknown mode',
      { stream_modes: ['nonsense'] },
      GRPC_STATUS.INVALID_ARGUMENT,
      'unsupported_stream_mode',
    ],
    [
      'values and another mode',
      { stream_modes: ['values', 'debug'] },
      GRPC_STATUS.INVALID_ARGUMENT,
      'unsupported_stream_mode',
    ],
    ['a window that is too long', { buffer_ms: 5_001 }, GRPC_STATUS.INVALID_ARGUMENT, 'validation_error'],
    ['a sequence below -1', { last_sequence: -2 }, GRPC_STATUS.INVALID_ARGUMENT, 'validation_error'],
  ])('of %s is refused before its first message', async (_, request, code, error) => {
    const { runId } = await at.start('noop');

    const { frames, ended } = follow({ run_id: runId, ...request });

    expect(await ended).toEqual({ code, envelope: error });
    expect(frames).toEqual([]);
  });

  it('of another tenant’s run is one of an unknown run, and one over the quota is refused', async () => {
    const runId = await running();
    const foreign = follow({ run_id: runId }, { key: at.otherTenantKey });
    const open = Array.from({ length: 5 }, () => follow({ run_id: runId }));
    await Promise.all(open.map(({ until }) => until((frames) => frames.length > 0)));

    const over = follow({ run_id: runId });

    expect(await foreign.ended).toEqual({ code: GRPC_STATUS.NOT_FOUND, envelope: 'not_found' });
    expect(await over.ended).toEqual({ code: GRPC_STATUS.RESOURCE_EXHAUSTED, envelope: 'rate_limited' });
    await cancel(runId);
    await Promise.all(open.map(({ ended }) => ended));
  });

  it('ends at its deadline, and the run does not', async () => {
    const runId = await running();

    const { ended } = follow({ run_id: runId }, { deadlineMs: 300 });

    expect((await ended).code).toBe(GRPC_STATUS.DEADLINE_EXCEEDED);
    expect((await at.call('GET', `/v1/runs/${runId}`)).json['status']).toBe('running');
    await cancel(runId);
  });

  it('gives its place back when its reader has gone', async () => {
    const runId = await running();
    for (let round = 0; round < 3; round += 1) {
      const open = await allPlaces(runId);
      for (const { stream } of open) stream.cancel();
      await Promise.all(open.map(({ ended }) => ended));
    }
    await cancel(runId);
  });

  it.each([
    ['at once', { stream_modes: ['values'] }],
    ['after a window', { stream_modes: ['values'], buffer_ms: 50 }],
  ])(
    'ends with an error when a frame is larger than a message may be, %s, and others are served',
    async (_, asked) => {
      const small = await openGrpcHarness({ maxGrpcMessageBytes: 3_000 });
      const { runId } = await small.start('wait', { metadata: { text: 'x'.repeat(5_000) } });
      await small.reaches(runId, 'running');
      const stream = small.stream('StreamRunEvents', { run_id: runId, ...asked });
      const ended = new Promise<ServiceError>((resolve) => void stream.on('error', resolve));
      stream.resume();

      const { code, metadata } = await ended;
      const { code: other } = await small.rpc('GetWorkflow', { workflow_id: 'noop' });
      await small.close();

      expect([code, envelopeOf(metadata)?.['error']]).toEqual([
        GRPC_STATUS.RESOURCE_EXHAUSTED,
        'answer_too_large',
      ]);
      expect(other).toBe(0);
    },
  );

  it('ends as UNAVAILABLE when the host stops, because the run has not ended', async () => {
    const stopping = await openGrpcHarness();
    const { runId } = await stopping.start('wait');
    await stopping.reaches(runId, 'running');
    const stream = stopping.stream('StreamRunEvents', { run_id: runId });
    const ended = new Promise<ServiceError>((resolve) => void stream.on('error', resolve));
    await new Promise((resolve) => stream.once('data', resolve));

    await stopping.close();

    expect((await ended).code).toBe(GRPC_STATUS.UNAVAILABLE);
  });
});

/** As many streams as there may be. A cancelled call is known to the server a moment later. */
async function allPlaces(runId: string): Promise<readonly Reading[]> {
  for (const until = Date.now() + 10_000; Date.now() < until; ) {
    const open = Array.from({ length: 5 }, () => follow({ run_id: runId }));
    const refused = await Promise.all(
      open.map(({ ended, until: sees }) => Promise.race([ended, sees((frames) => frames.length > 0)])),
    );
    if (refused.every((status) => status === undefined)) return open;
    for (const { stream } of open) stream.cancel();
    await Promise.all(open.map(({ ended }) => ended));
  }
  throw new Error('No place was given back.');
}
