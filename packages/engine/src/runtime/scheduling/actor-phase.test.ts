import { describe, expect, it } from 'vitest';
import { ActorPhase, type Phase, type Transition } from './actor-phase.ts';

/** By phase: the transitions that lead to it. */
const PATHS: Readonly<Record<Phase, readonly Transition[]>> = {
  resting: [],
  deciding: ['work'],
  committing: ['work', 'write'],
  ended: ['end'],
};

function actorIn(phase: Phase): ActorPhase {
  const actor = new ActorPhase();
  for (const transition of PATHS[phase]) actor.move(transition);
  return actor;
}

describe('the phase of an actor', () => {
  it.each<[Phase, Transition, Phase | undefined]>([
    ['resting', 'work', 'deciding'],
    ['resting', 'write', undefined],
    ['resting', 'written', undefined],
    ['resting', 'rest', undefined],
    ['resting', 'end', 'ended'],
    ['deciding', 'work', undefined],
    ['deciding', 'write', 'committing'],
    ['deciding', 'written', undefined],
    ['deciding', 'rest', 'resting'],
    ['deciding', 'end', 'ended'],
    ['committing', 'work', undefined],
    ['committing', 'write', undefined],
    ['committing', 'written', 'deciding'],
    ['committing', 'rest', undefined],
    ['committing', 'end', 'ended'],
    ['ended', 'work', undefined],
    ['ended', 'write', undefined],
    ['ended', 'written', undefined],
    ['ended', 'rest', undefined],
    ['ended', 'end', undefined],
  ])('%s, asked to %s, becomes %s', (before, transition, after) => {
    const actor = actorIn(before);

    expect(actor.move(transition)).toBe(after !== undefined);
    expect(actor.now).toBe(after ?? before);
  });
});
