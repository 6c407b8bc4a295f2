import type { OutputChunk } from '@weft/engine';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { gatherChunks } from './gathered-chunks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function gathering() {
  const emitted: OutputChunk[] = [];
  return { emitted, chunks: gatherChunks((chunk) => void emitted.push(chunk)) };
}

describe('pieces of text', () => {
  it('are put together for 50 milliseconds', () => {
    const { emitted, chunks } = gathering();

    for (const piece of ['a', 'b', 'c']) chunks.add(piece);
    vi.advanceTimersByTime(49);
    expect(emitted).toEqual([]);
    vi.advanceTimersByTime(1);

    expect(emitted).toEqual([{ chunk: 'abc', isLast: false }]);
  });

  it('are not put together beyond four thousand characters', () => {
    const { emitted, chunks } = gathering();

    for (let index = 0; index < 10; index++) chunks.add('x'.repeat(1_024));

    expect(emitted.map(({ chunk }) => chunk.length)).toEqual([4_096, 4_096]);
  });

  it('end with the rest and the metadata, once', () => {
    const { emitted, chunks } = gathering();

    chunks.add('rest');
    chunks.end({ finishReason: 'stop' });
    vi.runAllTimers();

    expect(emitted).toEqual([{ chunk: 'rest', isLast: true, meta: { finishReason: 'stop' } }]);
  });

  it('never cut a character in two', () => {
    const { emitted, chunks } = gathering();

    chunks.add('a\ud83e');
    vi.runAllTimers();
    chunks.add('\uddf5b');
    chunks.end({});

    expect(emitted.map(({ chunk }) => chunk)).toEqual(['a', '🧵b']);
  });

  it('are shown when the stream breaks, none of them as the last', () => {
    const { emitted, chunks } = gathering();

    chunks.add('half');
    chunks.flush();
    vi.runAllTimers();

    expect(emitted).toEqual([{ chunk: 'half', isLast: false }]);
  });
});
