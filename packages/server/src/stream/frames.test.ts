import type { WireEvent } from '@weft/engine';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFrameQueue, frameOf, SSE_FRAMES } from './frames.ts';

function event(seq: number, type: string): WireEvent {
  return { seq, type, at: 0, payload: `{"p":${seq}}`, document: `{"sequence":${seq}}` };
}

describe('what a mode shows of an event', () => {
  it('is the wire document as it is, under the event’s type', () => {
    expect(frameOf(['updates'], { event: event(0, 'run.started') })).toEqual({
      seq: 0,
      event: 'run.started',
      data: '{"sequence":0}',
      urgent: false,
    });
  });

  it('is nothing for node.started in updates, and a snapshot with its sequence in values', () => {
    const snapshot = '{"runId":"r","status":"running","atSeq":1}';

    expect(frameOf(['updates'], { event: event(1, 'node.started') })).toBeUndefined();
    expect(frameOf(['values'], { event: event(1, 'node.started'), snapshot })).toMatchObject({
      event: 'state.snapshot',
      data: snapshot,
    });
  });

  it('is the chunk’s payload in messages, and the whole document in debug', () => {
    const chunk = { event: event(2, 'output.chunk') };

    expect(frameOf(['messages'], chunk)).toMatchObject({ event: 'ai.message.chunk', data: '{"p":2}' });
    expect(frameOf(['updates', 'messages'], chunk)).toMatchObject({ event: 'ai.message.chunk' });
    expect(frameOf(['debug'], chunk)).toMatchObject({ event: 'output.chunk', data: '{"sequence":2}' });
    expect(frameOf(['updates'], chunk)).toBeUndefined();
  });

  it('is urgent at the end of the run and at a suspension', () => {
    expect(frameOf(['debug'], { event: event(3, 'run.failed') })?.urgent).toBe(true);
    expect(frameOf(['debug'], { event: event(3, 'node.suspended') })?.urgent).toBe(true);
    expect(frameOf(['debug'], { event: event(3, 'node.completed') })?.urgent).toBe(false);
  });
});

describe('a queue with a window', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const frame = (seq: number, urgent = false) => ({
    seq,
    event: 'node.completed',
    data: `{"s":${seq}}`,
    urgent,
  });

  it('sends what came in the window as one batch with the highest sequence as id', () => {
    const sent: string[] = [];
    const queue = createFrameQueue(500, SSE_FRAMES, (text) => sent.push(text));
    expect(queue.add(frame(4)) + queue.add(frame(5))).toBe('');

    vi.advanceTimersByTime(500);

    expect(sent).toEqual(['id: 5\nevent: batch\ndata: [{"s":4},{"s":5}]\n\n']);
  });

  it('does not let something urgent wait, nor send an empty batch after it', () => {
    const sent: string[] = [];
    const queue = createFrameQueue(5000, SSE_FRAMES, (text) => sent.push(text));
    queue.add(frame(1));

    expect(queue.add(frame(2, true))).toBe('id: 2\nevent: batch\ndata: [{"s":1},{"s":2}]\n\n');
    vi.advanceTimersByTime(10_000);
    expect(sent).toEqual([]);
    expect(queue.flush()).toBe('');
  });

  it('sends a large batch before its window is over', () => {
    const queue = createFrameQueue(5000, SSE_FRAMES, () => undefined);

    const text = queue.add({ seq: 1, event: 'x', data: `"${'a'.repeat(300_000)}"`, urgent: false });

    expect(text).toContain('event: batch');
  });

  it('of 0 ms sends each frame as it comes', () => {
    const queue = createFrameQueue(0, SSE_FRAMES, () => undefined);

    expect(queue.add(frame(7))).toBe('id: 7\nevent: node.completed\ndata: {"s":7}\n\n');
  });
});
