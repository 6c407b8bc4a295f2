import { describe, expect, it } from 'vitest';
import { HeldRuns } from './held-runs.ts';
import type { RunActor } from './run-actor.ts';

const NOTHING = (): void => undefined;

function actorOf(epoch: number): RunActor {
  return {
    runId: 'r',
    epoch,
    start: NOTHING,
    poke: NOTHING,
    read: () => Promise.resolve(undefined),
    drain: NOTHING,
    park: () => false,
    drop: NOTHING,
  };
}

const claim = (epoch: number) => ({ runId: 'r', epoch });

describe('a run that is held here', () => {
  it('is loaded, held and gone', () => {
    const runs = new HeldRuns();
    const actor = actorOf(1);

    expect(runs.claim(claim(1))).toBe(true);
    expect([runs.isLoading('r', 1), runs.has('r'), runs.actor('r')]).toEqual([true, true, undefined]);
    runs.hold(actor);
    runs.loaded(claim(1));
    expect([runs.isLoading('r'), runs.actor('r')]).toEqual([false, actor]);
    runs.end(actor, 'finished');
    expect(runs.isEmpty).toBe(true);
  });

  it('is loaded once per claim, and the newest claim wins (W-1)', () => {
    const runs = new HeldRuns();
    runs.claim(claim(2));

    expect([runs.claim(claim(1)), runs.claim(claim(2)), runs.claim(claim(3))]).toEqual([false, false, true]);
    runs.loaded(claim(2));
    expect(runs.isLoading('r', 3)).toBe(true);
  });

  it('keeps its actor while a newer claim is loaded, also when nothing comes of that', () => {
    const runs = new HeldRuns();
    const actor = actorOf(1);
    runs.hold(actor);

    runs.claim(claim(2));
    expect(runs.actor('r')).toBe(actor);
    runs.loaded(claim(2));
    expect(runs.all()).toMatchObject([{ state: 'held', actor }]);
  });

  it('is still loading when the actor of its earlier claim ends', () => {
    const runs = new HeldRuns();
    const actor = actorOf(1);
    runs.hold(actor);
    runs.claim(claim(2));

    runs.end(actor, 'dropped');

    expect([runs.isLoading('r', 2), runs.actor('r')]).toEqual([true, undefined]);
  });

  it('counts what fails in a row, and nothing else', () => {
    const runs = new HeldRuns();
    const endings = (['crashed', 'crashed', 'unwritable', 'crashed', 'stopped'] as const).map((ending) => {
      const actor = actorOf(1);
      runs.hold(actor);
      const failures = runs.end(actor, ending);
      runs.claim(claim(1), failures);
      return failures;
    });

    expect(endings.map((failures) => failures?.crashed)).toEqual([1, 2, 0, 1, 0]);
    expect(endings.map((failures) => failures?.unwritable)).toEqual([0, 0, 1, 0, 0]);
  });

  it('has nothing to do with the ending of another actor', () => {
    const runs = new HeldRuns();
    runs.hold(actorOf(2));

    expect(runs.end(actorOf(1), 'crashed')).toBeUndefined();
    expect(runs.has('r')).toBe(true);
  });

  it('keeps the process from being idle while its claim is given up, and can be claimed meanwhile', () => {
    const runs = new HeldRuns();
    runs.releasing('r');

    expect([runs.isEmpty, runs.has('r'), runs.actors()]).toEqual([false, false, []]);
    expect(runs.claim(claim(2))).toBe(true);
    runs.released('r');
    expect(runs.isLoading('r', 2)).toBe(true);
    runs.loaded(claim(2));
    runs.releasing('r');
    runs.released('r');
    expect(runs.isEmpty).toBe(true);
  });
});
