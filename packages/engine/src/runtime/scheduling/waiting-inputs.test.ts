import { describe, expect, it } from 'vitest';
import type { Input, Step } from '../../core/decide/step.ts';
import type { StoredCommand } from '../../ports/store.ts';
import { WaitingInputs } from './waiting-inputs.ts';

const pause: StoredCommand = {
  commandId: 'p',
  acceptedAt: 0,
  command: { type: 'pause', policy: 'drain-current-node' },
};
const cancel: StoredCommand = { commandId: 'c', acceptedAt: 0, command: { type: 'cancel' } };
const outcome: Input = { type: 'outcome', key: 'a', attempt: 0, outcome: { ok: true, outputs: {} } };

function step(more = false): Step {
  return { events: [], effects: [], children: [], signals: [], aborts: [], more };
}

describe('what waits for a run', () => {
  it('opens with the inbox unread, unless its first step is durable', () => {
    expect(new WaitingInputs([{ type: 'start' }], undefined).isInboxUnread).toBe(true);
    expect(new WaitingInputs([], step()).hasAny).toBe(false);
    expect(new WaitingInputs([], step(true)).takeCutOff()).toEqual({ type: 'continue' });
  });

  it('does not recover a run with a waiting cancel (W-14)', () => {
    const inputs = new WaitingInputs([{ type: 'recovered' }], undefined);
    inputs.inboxRead([cancel]);

    expect(inputs.takeOpening()).toBeUndefined();
    expect(inputs.takeCommand()).toMatchObject({ commandId: 'c', commandsWait: false });
  });

  it('recovers a run with a word about the commands that wait', () => {
    const inputs = new WaitingInputs([{ type: 'recovered' }], undefined);
    inputs.inboxRead([pause, cancel]);

    expect(inputs.takeOpening()).toEqual({ type: 'recovered', commandsWait: true });
    expect(inputs.takeCommand()).toMatchObject({ commandId: 'p', commandsWait: true });
  });

  it('gives a command without a result again after the next decision, and not before (W-15)', () => {
    const inputs = new WaitingInputs([], undefined);
    inputs.inboxRead([pause]);
    inputs.inboxRead([pause]);
    const command = inputs.takeCommand();
    if (command !== undefined) inputs.taken(command, step(), undefined);

    expect(inputs.takeCommand()).toBeUndefined();
    inputs.taken(outcome, step(), undefined);
    expect(inputs.takeCommand()).toMatchObject({ commandId: 'p' });
    expect(inputs.hasUndecided).toBe(true);
  });

  it('forgets a command that was decided', () => {
    const inputs = new WaitingInputs([], undefined);
    inputs.inboxRead([cancel]);
    const command = inputs.takeCommand();
    const commandResult = { applied: true, status: 'cancelled', at: 1 } as const;
    if (command !== undefined) inputs.taken(command, step(), { commandId: 'c', commandResult });

    expect(inputs.hasUndecided).toBe(false);
  });
});
