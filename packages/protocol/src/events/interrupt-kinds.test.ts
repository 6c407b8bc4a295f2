import { describe, expect, it } from 'vitest';
import { RUN_STATUSES } from '../documents/run-statuses.ts';
import { INTERRUPT_KINDS, waitingFor } from './interrupt-kinds.ts';

describe('a kind of question', () => {
  it.each(INTERRUPT_KINDS.flatMap((kind) => waitingFor(kind) ?? []))(
    'for which runs wait has a status of runs and says what is waited for: $waitsFor',
    ({ waitsAs, waitsFor }) => {
      expect(RUN_STATUSES).toContain(waitsAs);
      expect(waitsFor).toMatch(/^[a-z].*[a-z]$/u);
    },
  );

  it('that is only announced holds up no run', () => {
    expect(waitingFor('conversation.start')).toBeUndefined();
    expect(waitingFor('conversation.close')).toBeUndefined();
  });

  it('that is unknown here has no row, not even under a name that every object has', () => {
    expect(waitingFor('from-the-future')).toBeUndefined();
    expect(waitingFor('constructor')).toBeUndefined();
  });
});
