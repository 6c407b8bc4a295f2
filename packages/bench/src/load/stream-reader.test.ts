import { describe, expect, it } from 'vitest';
import { createStreamReader, type Seen } from './stream-reader.ts';

const frame = (seq: number, type = 'node.started') =>
  `id: ${seq}\nevent: ${type}\ndata: {"timestamp":"2026-01-01T00:00:00.00${seq}Z"}\n\n`;

describe('a stream reader', () => {
  it('finds every event in pieces of any size, also between the sizes of chunks', () => {
    const seen: Seen[] = [];
    const reader = createStreamReader((event) => seen.push(event));
    const text = `HTTP/1.1 200 OK\r\n\r\n4f\r\n${frame(0)}\r\n9e\r\n${frame(1)}${frame(2, 'run.completed')}\r\n0\r\n\r\n`;

    for (const letter of text) reader.take(letter, 7);

    expect(seen.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    expect(seen[2]).toEqual({ seq: 2, at: Date.parse('2026-01-01T00:00:00.002Z'), receivedAt: 7 });
    expect(reader.counts).toEqual({ received: 3, lost: 0, repeated: 0, isOver: true });
  });

  it('counts what is missing and what comes twice', () => {
    const reader = createStreamReader(() => undefined);

    reader.take(frame(0) + frame(3) + frame(3), 0);

    expect(reader.counts).toMatchObject({ received: 3, lost: 2, repeated: 1, isOver: false });
  });

  it('does not take a comment for an event', () => {
    const reader = createStreamReader(() => undefined);

    reader.take(': keepalive\n\n', 0);

    expect(reader.counts.received).toBe(0);
  });
});
