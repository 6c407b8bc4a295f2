import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { spansOf } from '@weft/engine';
import type { Post, Posted } from './otlp-post.ts';
import { sampleRecord } from './sample-record.ts';
import { createSpanExporter, type SpanExporter } from './span-exporter.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An exporter whose collector answers with these, and with the last one for ever. */
function exporterWith(
  answers: readonly Posted[],
  maxQueuedRuns = 10,
): { exporter: SpanExporter; posts: string[] } {
  const posts: string[] = [];
  const post: Post = async (_kind, body) => {
    posts.push(body);
    return answers[Math.min(posts.length, answers.length) - 1] ?? { state: 'taken' };
  };
  const exporter = createSpanExporter({
    host: {
      async runSpans(runId) {
        const record = sampleRecord({ runId });
        return { record, spans: spansOf(record, []), dropped: 0 };
      },
    },
    post,
    sender: { version: '1', instance: 'one' },
    log: () => undefined,
    maxQueuedRuns,
    retryMs: [100, 100],
  });
  return { exporter, posts };
}

describe('the span exporter', () => {
  it('sends runs that end together in one request (T-1)', async () => {
    const { exporter, posts } = exporterWith([{ state: 'taken' }]);

    exporter.ended('run-1');
    exporter.ended('run-2');
    await vi.runAllTimersAsync();

    expect(posts).toHaveLength(1);
    expect(posts[0]).toContain('run-1');
    expect(posts[0]).toContain('run-2');
    expect(exporter.counts()).toEqual({ sent: 2, dropped: 0, droppedRuns: 0, queued: 0 });
  });

  it('sends the same bytes again while the collector is away', async () => {
    const { exporter, posts } = exporterWith([{ state: 'again' }, { state: 'taken' }]);

    exporter.ended('run-1');
    await vi.runAllTimersAsync();

    expect(posts).toHaveLength(2);
    expect(posts[1]).toBe(posts[0]);
    expect(exporter.counts()).toMatchObject({ sent: 1, dropped: 0 });
  });

  it('gives a batch up after the last try, or at once when it is refused (T-3)', async () => {
    const away = exporterWith([{ state: 'again' }]);
    const refusing = exporterWith([{ state: 'refused' }]);

    away.exporter.ended('run-1');
    refusing.exporter.ended('run-1');
    await vi.runAllTimersAsync();

    expect([away.posts.length, away.exporter.counts().dropped]).toEqual([3, 1]);
    expect([refusing.posts.length, refusing.exporter.counts().dropped]).toEqual([1, 1]);
  });

  it('keeps no more runs than its queue takes, and counts the others (T-2)', async () => {
    const { exporter } = exporterWith([{ state: 'again' }], 2);

    for (const runId of ['a', 'b', 'c', 'd']) exporter.ended(runId);

    expect(exporter.counts()).toMatchObject({ queued: 2, droppedRuns: 2 });
    await vi.runAllTimersAsync();
  });

  it('sends what is queued when it is stopped (T-4)', async () => {
    const { exporter, posts } = exporterWith([{ state: 'taken' }]);
    exporter.ended('run-1');

    await exporter.stop(1_000);

    expect(posts).toHaveLength(1);
  });
});
