import { createSseParser, type SseEvent } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';

let at: Harness;
beforeAll(async () => {
  at = await openHarness();
});
afterAll(() => at.close());

async function ended(workflowId = 'noop'): Promise<string> {
  const { runId } = await at.start(workflowId);
  await at.reaches(runId, workflowId === 'fail' ? 'failed' : 'completed');
  return runId;
}

async function stream(runId: string, query = '', headers: Record<string, string> = {}) {
  const answer = await at.call('GET', `/v1/runs/${runId}/events${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
  });
  const frames: SseEvent[] = [];
  createSseParser((frame) => frames.push(frame)).push(answer.text);
  return { answer, frames };
}

/** The documents inside `"events":[…]`, as bytes. */
async function polledDocuments(runId: string): Promise<string[]> {
  const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);
  return Array.from(json.events as unknown as unknown[], (event) => JSON.stringify(event));
}

describe('a stream of a run that has ended', () => {
  it('is one body with a length, ids are sequences, the last frame is the end', async () => {
    const runId = await ended();

    const { answer, frames } = await stream(runId, '?streamMode=debug');

    expect(answer.headers['content-type']).toContain('text/event-stream');
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.headers['x-accel-buffering']).toBe('no');
    expect(Number(answer.headers['content-length'])).toBe(Buffer.byteLength(answer.text));
    expect(frames.map((frame) => Number(frame.id))).toEqual(frames.map((_, index) => index));
    expect(frames.at(-1)?.event).toBe('run.completed');
  });

  it('carries the same bytes as a poll and as the whole log in JSON', async () => {
    const runId = await ended();

    const { frames } = await stream(runId, '?streamMode=debug');
    const poll = await at.call('GET', `/v1/runs/${runId}/events/poll`);
    const whole = await at.call('GET', `/v1/runs/${runId}/events`, {
      headers: { accept: 'application/json' },
    });

    const joined = frames.map((frame) => frame.data).join(',');
    expect(poll.text).toContain(`"events":[${joined}]`);
    expect(whole.text).toBe(poll.text);
    expect(await polledDocuments(runId)).toEqual(frames.map((frame) => frame.data));
  });

  it('leaves out node.started in updates, the default, and shows it in debug', async () => {
    const runId = await ended();

    const byDefault = (await stream(runId)).frames.map((frame) => frame.event);
    const mixed = (await stream(runId, '?streamMode=updates,debug')).frames.map((frame) => frame.event);

    expect(byDefault).toContain('run.started');
    expect(byDefault).not.toContain('node.started');
    expect(mixed).toContain('node.started');
    expect(mixed.filter((event) => event === 'run.completed')).toHaveLength(1);
  });

  it('continues after Last-Event-ID, never at it; -1 is from the first', async () => {
    const runId = await ended();
    const all = (await stream(runId, '?streamMode=debug')).frames;

    const rest = (await stream(runId, '?streamMode=debug', { 'last-event-id': '0' })).frames;
    const first = (await stream(runId, '?streamMode=debug', { 'last-event-id': '-1' })).frames;
    const past = await stream(runId, '?streamMode=debug', { 'last-event-id': '99999' });
    const end = await stream(runId, '', { 'last-event-id': String(all.length - 1) });

    expect(rest).toEqual(all.slice(1));
    expect(first).toEqual(all);
    expect([past.answer.status, past.frames]).toEqual([200, []]);
    expect([end.answer.status, end.frames]).toEqual([200, []]);
  });

  it('in values is snapshots with the sequence they belong to, a baseline first when resumed', async () => {
    const runId = await ended();

    const { frames } = await stream(runId, '?streamMode=values');
    const resumed = (await stream(runId, '?streamMode=values', { 'last-event-id': '0' })).frames;

    expect(new Set(frames.map((frame) => frame.event))).toEqual(new Set(['state.snapshot']));
    const last = JSON.parse(frames.at(-1)?.data ?? '{}');
    const { atSeq, ...snapshot } = last;
    expect(atSeq).toBe(Number(frames.at(-1)?.id));
    expect(snapshot).toEqual(JSON.parse((await at.call('GET', `/v1/runs/${runId}`)).text));
    expect(JSON.parse(resumed[0]?.data ?? '{}')).toMatchObject({ runId, atSeq: 0 });
    expect(resumed[0]?.id).toBe('0');
    expect(resumed.at(-1)).toEqual(frames.at(-1));
  });

  it('in messages is empty where no model spoke', async () => {
    expect((await stream(await ended(), '?streamMode=messages')).frames).toEqual([]);
  });

  it('with a buffer is batches whose id is their highest sequence', async () => {
    const runId = await ended();
    const single = (await stream(runId, '?streamMode=debug')).frames;

    const { frames } = await stream(runId, '?streamMode=debug&bufferMs=4000');

    expect(frames.map((frame) => frame.event)).toEqual(['batch']);
    expect(frames[0]?.id).toBe(single.at(-1)?.id);
    expect(frames[0]?.data).toBe(`[${single.map((frame) => frame.data).join(',')}]`);
    expect((await stream(runId, '?streamMode=debug&bufferMs=0')).frames).toEqual(single);
  });
});

describe('wrong parameters of a stream', () => {
  it.each(['bogus', 'updates,bogus', 'values,updates', 'updates,values', '', 'Updates'])(
    'streamMode=%s is 400 that lists the modes, also for readers of JSON',
    async (mode) => {
      const runId = await ended();
      for (const accept of ['application/json', 'text/event-stream']) {
        const answer = await at.call('GET', `/v1/runs/${runId}/events?streamMode=${mode}`, {
          headers: { accept },
        });

        expect([answer.status, answer.json.error]).toEqual([400, 'unsupported_stream_mode']);
        expect(answer.json.details).toEqual({ supported: ['values', 'updates', 'messages', 'debug'] });
      }
    },
  );

  it.each(['5001', '99999', '-1', 'x', '1.5', ''])('bufferMs=%s is 400', async (bufferMs) => {
    const runId = await ended();

    const answer = await at.call('GET', `/v1/runs/${runId}/events?bufferMs=${bufferMs}`, {
      headers: { accept: 'application/json' },
    });

    expect([answer.status, answer.json.details?.field]).toEqual([400, 'bufferMs']);
  });

  it.each(['x', '-2', '1.5', '0x1'])('Last-Event-ID: %s is 400', async (id) => {
    const { answer } = await stream(await ended(), '', { 'last-event-id': id });

    expect([answer.status, answer.json.details?.field]).toEqual([400, 'Last-Event-ID']);
  });

  it('that are unknown are ignored', async () => {
    expect((await stream(await ended(), '?a2uiDelta=1&whatever=2')).answer.status).toBe(200);
  });
});

describe('the whole log in JSON', () => {
  it('comes at once, also from an active run', async () => {
    const { runId } = await at.start('wait');

    const { json } = await at.call('GET', `/v1/runs/${runId}/events`, {
      headers: { accept: 'application/json' },
    });

    expect(json).toMatchObject({ runId, isComplete: false, isTerminal: false });
    expect(Number(json.lastEventSeq)).toBeGreaterThanOrEqual(0);
  });
});

describe('a log of many pages', () => {
  it('is one JSON document and one stream, without a seam', async () => {
    const paged = await openHarness({}, (host) => ({
      ...host,
      runs: {
        ...host.runs,
        events: (caller, runId, afterSeq, limit) =>
          host.runs.events(caller, runId, afterSeq, Math.min(limit, 2)),
      },
    }));
    const { runId } = await paged.start('steps', { inputs: { delayMs: 1 } });
    await paged.reaches(runId, 'completed');

    const whole = await paged.call('GET', `/v1/runs/${runId}/events`, {
      headers: { accept: 'application/json' },
    });
    const streamed = await paged.call('GET', `/v1/runs/${runId}/events?streamMode=debug`);
    await paged.close();

    const documents: string[] = [];
    createSseParser((frame) => documents.push(frame.data)).push(streamed.text);
    expect(documents.length).toBeGreaterThan(4);
    expect(whole.text).toContain(`"events":[${documents.join(',')}]`);
    expect(whole.json).toMatchObject({
      isComplete: true,
      runStatus: 'completed',
      lastEventSeq: documents.length - 1,
    });
  });
});

describe('a poll', () => {
  it('is the whole log, unfiltered, under both families of names', async () => {
    const runId = await ended();

    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);
    const events = json.events as unknown as { type: string; sequence: number; payload: unknown }[];

    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index));
    expect(events.map((event) => event.type)).toContain('node.started');
    expect(json).toMatchObject({
      runId,
      isComplete: true,
      isTerminal: true,
      runStatus: 'completed',
      lastEventSeq: events.length - 1,
    });
  });

  it('starts strictly after lastSequence (or since), so 0 skips the first event and -1 none', async () => {
    const runId = await ended();
    const sequences = async (query: string) => {
      const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll?${query}`);
      return (json.events as unknown as { sequence: number }[]).map((event) => event.sequence);
    };

    expect((await sequences('lastSequence=-1'))[0]).toBe(0);
    expect((await sequences('lastSequence=0'))[0]).toBe(1);
    expect((await sequences('since=1'))[0]).toBe(2);
    expect(await sequences('limit=2')).toEqual([0, 1]);
  });

  it('of a part is not complete and says where to continue', async () => {
    const runId = await ended();

    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll?limit=1`);

    expect(json).toMatchObject({ isComplete: false, isTerminal: false, lastEventSeq: 0 });
  });

  it('past the end of a run that has ended is 200 and empty at once', async () => {
    const runId = await ended();

    const answer = await at.call('GET', `/v1/runs/${runId}/events/poll?lastSequence=99999`);

    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ events: [], isComplete: true });
  });

  it('waits for the next event', async () => {
    const { runId } = await at.start('wait');
    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);

    const waiting = at.call(
      'GET',
      `/v1/runs/${runId}/events/poll?lastSequence=${json.lastEventSeq}&timeout=30`,
    );
    await at.call('POST', `/v1/runs/${runId}/cancel`);

    const answer = await waiting;
    expect((answer.json.events as unknown as { sequence: number }[])[0]?.sequence).toBe(
      Number(json.lastEventSeq) + 1,
    );
  });

  it('without news ends after its timeout, empty', async () => {
    const { runId } = await at.start('wait');
    const { json } = await at.call('GET', `/v1/runs/${runId}/events/poll`);

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const waiting = at.call(
      'GET',
      `/v1/runs/${runId}/events/poll?lastSequence=${json.lastEventSeq}&timeout=60`,
    );
    await vi.waitUntil(() => at.host.stats()['listeners'] === 1, { interval: 1 });
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();

    const answer = await waiting;
    expect(answer.json).toMatchObject({ events: [], isComplete: false, lastEventSeq: json.lastEventSeq });
  });

  it.each([
    'lastSequence=x',
    'lastSequence=-2',
    'since=1.5',
    'timeout=0',
    'timeout=61',
    'limit=0',
    'limit=1001',
  ])('with %s is 400', async (query) => {
    const answer = await at.call('GET', `/v1/runs/${await ended()}/events/poll?${query}`);

    expect([answer.status, answer.json.error]).toEqual([400, 'validation_error']);
  });
});

describe('reading a run', () => {
  it('is 304 for a client that has it, and never when it has changed', async () => {
    const { runId } = await at.start('wait');
    const first = await at.call('GET', `/v1/runs/${runId}`);
    const etag = String(first.headers['etag']);
    const read = () => at.call('GET', `/v1/runs/${runId}`, { headers: { 'if-none-match': etag } });

    const same = await read();
    await at.call('POST', `/v1/runs/${runId}/cancel`);
    const changed = await read();

    expect(etag).toMatch(/^"[^"]+"$/);
    expect([same.status, same.text]).toEqual([304, '']);
    expect([changed.status, changed.json.status]).toEqual([200, 'cancelled']);
    expect(changed.headers['etag']).not.toBe(etag);
  });
});

describe('long polls of a tenant that has as many as it may', () => {
  it('are refused, and those of another are not', async () => {
    const crowded = await openHarness({ maxPollsPerTenant: 1 });
    const { runId } = await crowded.start('wait');
    const other = await crowded.call('POST', '/v1/runs', {
      key: crowded.otherTenantKey,
      body: { workflowId: 'wait' },
    });
    const poll = (run: string, key: string): ReturnType<Harness['call']> =>
      crowded.call('GET', `/v1/runs/${run}/events/poll?lastSequence=99&timeout=60`, { key });
    const waiting = [poll(runId, crowded.key)];
    await expect.poll(() => crowded.host.stats()['listeners']).toBe(1);

    const refused = await poll(runId, crowded.key);
    waiting.push(poll((JSON.parse(other.text) as { runId: string }).runId, crowded.otherTenantKey));
    await expect.poll(() => crowded.host.stats()['listeners']).toBe(2);

    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({
      error: 'rate_limited',
      message: 'There are already 1 long polls for this tenant; close one or wait.',
    });
    await crowded.close();
    await Promise.allSettled(waiting);
  });
});
