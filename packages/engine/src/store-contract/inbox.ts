import { describe, expect, it } from 'vitest';
import type { CommandResult } from '../ports/store.ts';
import {
  appendUnit,
  commandUnit,
  commitOne,
  completed,
  given,
  givenFreeRun,
  givenHeldRun,
  newRunId,
  START,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** Commands: accepted, in order, consumed once with a result. */
export function inboxContract(subject: Subject): void {
  describe('the inbox', () => {
    const applied: CommandResult = { applied: true, status: 'cancelled', at: START + 5 };

    it('keeps commands in order of acceptance, with the time of the store’s clock', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(
        subject.store,
        commandUnit(runId, 'z', { command: { type: 'pause', policy: 'immediate', by: 'ada' } }),
      );
      subject.now += 7;
      await given(
        subject.store,
        commandUnit(runId, 'a', { command: { type: 'resume' } }),
        commandUnit(runId, 'm'),
      );

      expect(await subject.store.readInbox(runId)).toEqual([
        { commandId: 'z', command: { type: 'pause', policy: 'immediate', by: 'ada' }, acceptedAt: START },
        { commandId: 'a', command: { type: 'resume' }, acceptedAt: START + 7 },
        { commandId: 'm', command: { type: 'cancel', reason: 'enough' }, acceptedAt: START + 7 },
      ]);
      expect((await subject.store.readRun(runId, 'acme'))?.pendingCommands).toEqual([
        'pause',
        'resume',
        'cancel',
      ]);
    });

    it('gives up a command with the unit that consumes it, and remembers the result', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, commandUnit(runId, 'c1'), commandUnit(runId, 'c2'));

      await given(
        subject.store,
        appendUnit(runId, 0, { consume: [{ commandId: 'c1', commandResult: applied }] }),
      );

      expect((await subject.store.readInbox(runId)).map(({ commandId }) => commandId)).toEqual(['c2']);
      expect((await subject.store.readRun(runId, 'acme'))?.pendingCommands).toEqual(['cancel']);
      expect(await subject.store.readCommand(runId, 'c1')).toMatchObject({ commandResult: applied });
      expect(await subject.store.readCommand(runId, 'c2')).not.toHaveProperty('commandResult');
      expect(await subject.store.readCommand(runId, 'c3')).toBeUndefined();
    });

    it('keeps the first result of a command', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, commandUnit(runId, 'c1'));
      await given(
        subject.store,
        appendUnit(runId, 0, { consume: [{ commandId: 'c1', commandResult: applied }] }),
      );

      const other: CommandResult = { applied: false, status: 'running' };
      await given(
        subject.store,
        appendUnit(runId, 1, { consume: [{ commandId: 'c1', commandResult: other }] }),
      );

      expect(await subject.store.readCommand(runId, 'c1')).toMatchObject({ commandResult: applied });
      expect((await subject.store.readRun(runId, 'acme'))?.pendingCommands).toEqual([]);
    });

    it('takes the same command twice as once', async () => {
      const runId = await givenFreeRun(subject.store);
      await given(subject.store, commandUnit(runId, 'c1'));

      await given(subject.store, commandUnit(runId, 'c1'));

      expect(await subject.store.readInbox(runId)).toHaveLength(1);
    });

    it('refuses a command when it is full, and takes one again after one was consumed', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(
        subject.store,
        commandUnit(runId, 'c1'),
        commandUnit(runId, 'c2'),
        commandUnit(runId, 'c3'),
      );

      expect(await commitOne(subject.store, commandUnit(runId, 'c4'))).toEqual({
        state: 'refused',
        reason: 'inbox_full',
      });

      await given(
        subject.store,
        appendUnit(runId, 0, { consume: [{ commandId: 'c2', commandResult: applied }] }),
      );
      expect(await commitOne(subject.store, commandUnit(runId, 'c4'))).toEqual({ state: 'committed' });
      expect((await subject.store.readInbox(runId)).map(({ commandId }) => commandId)).toEqual([
        'c1',
        'c3',
        'c4',
      ]);
    });

    it('refuses commands to runs that are over, of another tenant, or unknown', async () => {
      const over = await givenHeldRun(subject.store);
      await given(subject.store, appendUnit(over, 0, { head: completed }));
      const open = await givenHeldRun(subject.store);

      expect(await commitOne(subject.store, commandUnit(over, 'c1'))).toEqual({
        state: 'refused',
        reason: 'run_terminal',
        status: 'completed',
      });
      expect(await commitOne(subject.store, commandUnit(open, 'c1', { tenant: 'other' }))).toEqual({
        state: 'refused',
        reason: 'run_missing',
      });
      expect(await commitOne(subject.store, commandUnit(newRunId(), 'c1'))).toEqual({
        state: 'refused',
        reason: 'run_missing',
      });
      expect(await commitOne(subject.store, commandUnit('no such run', 'c1'))).toEqual({
        state: 'refused',
        reason: 'run_missing',
      });
      expect(await subject.store.readInbox(open)).toEqual([]);
    });

    it('does not make a run due that ended with a command unread', async () => {
      const runId = await givenHeldRun(subject.store);
      await given(subject.store, commandUnit(runId, 'c1'), appendUnit(runId, 0, { head: completed }));

      expect(await subject.store.nextDueAt()).toBeUndefined();
      expect(await subject.store.claimDue('h1', 5)).toEqual([]);
    });
  });
}
