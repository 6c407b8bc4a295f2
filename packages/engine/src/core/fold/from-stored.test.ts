import { describe, expect, it } from 'vitest';
import { LogFormatError } from '../../model/damaged-run-error.ts';
import type { StoredEvent } from '../../ports/store.ts';
import { newRunState } from './blank-state.ts';
import { evolve } from './evolve.ts';
import { fromStored } from './from-stored.ts';

const changed: StoredEvent = { seq: 4, at: 1_000, type: 'variable.changed', payload: '{"name":"a"}' };

describe('a stored event', () => {
  it.each(['null', '7', '[1]', '{"nodeId":"a"}'])(
    'of a type that is not known here changes nothing, whatever its payload: %s',
    (payload) => {
      const state = evolve(
        newRunState(new Map(), new Map(), 0),
        fromStored({ seq: 4, at: 1_000, type: 'acme.thing', nodeId: 'a', payload }),
      );

      expect(state).toEqual({ ...newRunState(new Map(), new Map(), 0), nextSeq: 5, lastAt: 1_000 });
    },
  );

  it('is read with the private part that it was written with (F-12)', () => {
    const event = fromStored({ ...changed, overlay: '{"name":"a","next":1,"sensitive":true}' });

    expect(event).toEqual({
      ...changed,
      payload: { name: 'a' },
      overlay: { name: 'a', next: 1, sensitive: true },
    });
  });

  it('of an older form is brought up to the present one (F-11, F-13)', () => {
    const event = fromStored({ ...changed, overlay: '{"name":"a","next":1,"isInheritedSecret":true}' });

    expect(event.overlay).toMatchObject({ name: 'a', next: 1, sensitive: true });
  });

  it.each(['2', '"x"', '{}'])('of a format that is not known here is refused (F-13): %s', (format) => {
    const newer = { ...changed, overlay: `{"name":"a","next":1,"@format":${format}}` };

    expect(() => fromStored(newer, 'run-1')).toThrow(LogFormatError);
  });
});
