import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../ports/store.ts';
import { node } from '../testing/definitions.ts';
import { simulate } from '../testing/simulation.ts';
import { causeOf, causeText, privatePayload, withPrivatePayload } from './overlay.ts';

const event: StoredEvent = { seq: 4, at: 1_000, type: 'node.completed', payload: '{"nodeId":"a"}' };

describe('an overlay', () => {
  it.each([
    ['', undefined, undefined],
    [causeText('outcome'), 'outcome', undefined],
    ['{"a":"{"}', undefined, '{"a":"{"}'],
    [`${causeText('resolve')}{"a":1}`, 'resolve', '{"a":1}'],
  ])('%j holds a cause, a payload, or both', (overlay, cause, payload) => {
    expect(causeOf({ ...event, overlay })?.type).toBe(cause);
    expect(privatePayload({ ...event, overlay })).toBe(payload);
  });

  it('says where other commands waited', () => {
    expect(causeOf({ ...event, overlay: causeText('pause', true) })).toEqual({
      type: 'pause',
      commandsWait: true,
    });
  });

  it('keeps its cause under another payload', () => {
    const changed = withPrivatePayload({ ...event, overlay: 'o{"a":1}' }, '{"a":2}');

    expect(changed.overlay).toBe('o{"a":2}');
  });
});

describe('a log', () => {
  it('names the cause of every unit at its first event, and nowhere else (F-14)', () => {
    const run = simulate({
      nodes: [node('a', 'test.effect'), node('b', 'core.delay', { ms: 5 })],
      edges: [],
    });
    run.start();
    run.succeed('a');
    run.passTime();

    const causes = run.log.map((each) => [each.type, causeOf(each)?.type]);

    expect(causes).toEqual([
      ['run.started', 'start'],
      ['node.started', undefined],
      ['node.completed', 'outcome'],
      ['node.started', undefined],
      ['node.completed', 'continue'],
      ['run.completed', undefined],
    ]);
  });

  it('names what led to a fact, and not the input of a step that had no use for it (F-15)', () => {
    const run = simulate({ nodes: [node('a', 'core.delay', { ms: 5 })] });
    run.start();
    run.now += 5;
    run.command({ type: 'resume' });

    expect(run.log.at(2)).toMatchObject({ type: 'node.completed', overlay: causeText('continue') });
  });

  it('says nothing of the start', () => {
    const run = simulate({ nodes: [node('a')] });
    run.start();

    expect(run.log.every(({ overlay }) => overlay === undefined)).toBe(true);
  });
});
