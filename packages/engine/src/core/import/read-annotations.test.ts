import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { readAnnotations } from './read-annotations.ts';
import { foreignBundle } from './testing/foreign-bundle.ts';

const NOTE: JsonObject = {
  annotationId: 'ann_1',
  target: { runId: 'far-1', eventId: 'evt-3', nodeId: 'fetch' },
  signal: { kind: 'rating', rating: 4 },
  actor: { principalRef: 'ada' },
  note: 'Better than before.',
  createdAt: '2026-05-02T08:00:00Z',
};

const read = (...annotations: JsonObject[]) => readAnnotations(foreignBundle({ annotations }));

describe('the annotations of a bundle', () => {
  it('are read with the sequence of the event that they are about', () => {
    expect(read(NOTE)).toEqual([
      {
        annotationId: 'ann_1',
        seq: 3,
        nodeId: 'fetch',
        signal: { kind: 'rating', rating: 4 },
        principal: 'ada',
        note: 'Better than before.',
        createdAt: Date.UTC(2026, 4, 2, 8),
      },
    ]);
  });

  it('are there without their event when the bundle does not hold it', () => {
    const [found] = read({ ...NOTE, target: { eventId: 'evt-900' } });

    expect(found).toMatchObject({ annotationId: 'ann_1' });
    expect(found).not.toHaveProperty('seq');
  });

  it('bring no credentials along', () => {
    const secret = 'sk-abcdefghij0123456789AB';

    const found = read({ ...NOTE, note: `use ${secret}`, signal: { kind: 'label', label: secret } });

    expect(found).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  it.each<[string, JsonObject]>([
    ['of an unknown kind', { signal: { kind: 'applause' } }],
    ['without what its kind demands', { signal: { kind: 'rating' } }],
    ['with a rating out of range', { signal: { kind: 'rating', rating: 6 } }],
    ['with a note that is too long', { note: 'n'.repeat(5_000) }],
    ['without a time', { createdAt: 'yesterday' }],
    ['without an author', { actor: {} }],
    ['without an id', { annotationId: '' }],
  ])('are left out one by one: one %s', (_, change) => {
    expect(read({ ...NOTE, ...change }, NOTE)).toHaveLength(1);
  });

  it('end at the number and the bytes that a run may have, the newest ones staying', () => {
    const many = (count: number, note: string): JsonObject[] =>
      Array.from({ length: count }, (_, index) => ({ ...NOTE, annotationId: `ann_${index}`, note }));

    const [byNumber, byBytes] = [read(...many(1_200, 'x')), read(...many(500, 'x'.repeat(4_000)))];

    expect(byNumber).toHaveLength(1_000);
    expect(byNumber.at(-1)?.annotationId).toBe('ann_1199');
    expect(JSON.stringify(byBytes).length).toBeLessThan(1.1 * 1024 * 1024);
    expect(byBytes.at(-1)?.annotationId).toBe('ann_499');
  });

  it('need not be there', () => {
    expect(readAnnotations(foreignBundle())).toEqual([]);
    expect(readAnnotations(foreignBundle({ annotations: 'none' }))).toEqual([]);
  });
});
