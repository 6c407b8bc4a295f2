import type { FollowedEvent } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import { createBatches } from './batches.ts';

function event(seq: number, type = 'node.completed'): FollowedEvent {
  return { event: { seq, type, at: 0, payload: '{}', document: `{"sequence":${seq},"text":"é"}` } };
}

describe('a batch of events', () => {
  it('is rendered once for all who are given the same list in the same modes', () => {
    const render = createBatches();
    const events = [event(1), event(2)];

    const first = render(events, ['debug']);
    const updates = render(events, ['updates']);

    expect(render(events, ['debug'])).toBe(first);
    expect(render(events, ['updates'])).toBe(updates);
    expect(render([...events], ['debug'])).not.toBe(first);
  });

  it('is the text of its frames, and the same as one chunk with its size in bytes', () => {
    const batch = createBatches()([event(1)], ['debug']);

    const text = 'id: 1\nevent: node.completed\ndata: {"sequence":1,"text":"é"}\n\n';
    expect(batch?.text).toBe(text);
    expect(batch?.chunk.toString()).toBe(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  });

  it('is nothing when the modes show none of its events', () => {
    const render = createBatches();
    const events = [event(1, 'node.started')];

    expect(render(events, ['updates'])).toBeUndefined();
    expect(render(events, ['updates'])).toBeUndefined();
    expect(render(events, ['debug'])).toBeDefined();
  });
});
