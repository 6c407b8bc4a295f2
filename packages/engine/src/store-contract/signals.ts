import { describe, expect, it } from 'vitest';
import type { Command, Signal, RunUnit } from '../ports/store.ts';
import {
  appendUnit,
  commandUnit,
  commitOne,
  completed,
  createUnit,
  given,
  givenFreeRun,
  givenHeldRun,
  idempotencyRecord,
  newRunId,
  START,
  waiting,
} from './fixtures.ts';
import type { Subject } from './subject.ts';

/** Commands from run to run, committed with the write of the run that sends them. */
export function signalsContract(subject: Subject): void {
  const cancel: Command = { type: 'cancel', reason: 'enough' };
  const signal = (runId: string, commandId = 'n1', command: Command = cancel): Signal => ({
    runId,
    commandId,
    command,
  });
  const inboxIds = async (runId: string) =>
    (await subject.store.readInbox(runId)).map(({ commandId }) => commandId);

  describe('a signal', () => {
    it('arrives in the other run’s inbox with the write that sends it, as it was sent', async () => {
      const [child, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      const ended: Command = {
        type: 'child',
        nodeKey: 'work[2]',
        childRunId: child,
        status: 'failed',
        outputs: { a: [1, null] },
        variables: { ['__proto__']: 'Zoë 🧵' },
        sensitive: ['total'],
        error: { code: 'node_timeout', message: 'late' },
      };
      subject.now += 7;

      await given(
        subject.store,
        appendUnit(child, 0, { head: completed, notify: [signal(parent, 'n1', ended)] }),
      );

      expect(await subject.store.readInbox(parent)).toEqual([
        { commandId: 'n1', command: ended, acceptedAt: START + 7 },
      ]);
      expect(await subject.store.readCommand(parent, 'n1')).toMatchObject({ command: ended });
      expect((await subject.store.readRun(parent, 'acme'))?.pendingCommands).toEqual(['child']);
      expect(await subject.store.readInbox(child)).toEqual([]);
    });

    it('is consumed as any command', async () => {
      const [child, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, appendUnit(child, 0, { notify: [signal(parent)] }));

      const commandResult = { applied: true, status: 'running', at: START } as const;
      await given(subject.store, appendUnit(parent, 0, { consume: [{ commandId: 'n1', commandResult }] }));

      expect(await subject.store.readInbox(parent)).toEqual([]);
      expect((await subject.store.readRun(parent, 'acme'))?.pendingCommands).toEqual([]);
      expect(await subject.store.readCommand(parent, 'n1')).toMatchObject({ commandResult });
    });

    it('makes a run due at once, whatever it waited for', async () => {
      const child = await givenHeldRun(subject.store);
      const parked = await givenFreeRun(subject.store, waiting);
      const timed = await givenFreeRun(subject.store, { ...waiting, wakeAt: START + 99_999 });

      await given(subject.store, appendUnit(child, 0, { notify: [signal(parked), signal(timed)] }));

      expect(await subject.store.nextDueAt()).toBeLessThanOrEqual(START);
      expect((await subject.store.claimDue('h1', 5)).map(({ runId }) => runId).sort()).toEqual(
        [parked, timed].sort(),
      );
    });

    it.each(['before', 'after'])(
      'makes a run due that its holder releases in the same group, %s it',
      async (when) => {
        const [child, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
        const release = appendUnit(parent, 0, { head: waiting, release: true });
        const tell = appendUnit(child, 0, { notify: [signal(parent)] });

        await given(subject.store, ...(when === 'before' ? [tell, release] : [release, tell]));

        expect(await subject.store.claimDue('h1', 5)).toMatchObject([{ runId: parent, epoch: 2 }]);
        expect(await inboxIds(parent)).toEqual(['n1']);
      },
    );

    it('makes a run due that its holder releases in the same moment', async () => {
      const pairs = await Promise.all(
        Array.from({ length: 10 }, async () => ({
          child: await givenHeldRun(subject.store),
          parent: await givenHeldRun(subject.store),
        })),
      );

      await Promise.all(
        pairs.flatMap(({ child, parent }, index) => {
          const release = () => given(subject.store, appendUnit(parent, 0, { head: waiting, release: true }));
          const tell = () => given(subject.store, appendUnit(child, 0, { notify: [signal(parent)] }));
          return index % 2 === 0 ? [release(), tell()] : [tell(), release()];
        }),
      );

      expect((await subject.store.claimDue('h1', 20)).map(({ runId }) => runId).sort()).toEqual(
        pairs.map(({ parent }) => parent).sort(),
      );
    });

    it('is dropped where that run is missing, of another tenant, or has ended; the others arrive', async () => {
      const [sender, open] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      const [ended, foreign] = [await givenHeldRun(subject.store), newRunId()];
      await given(
        subject.store,
        appendUnit(ended, 0, { head: completed }),
        createUnit(foreign, { head: waiting, record: { tenant: 'other' } }),
      );
      const targets = [newRunId(), 'no such run', foreign, ended, open];

      const result = await commitOne(
        subject.store,
        appendUnit(sender, 0, { notify: targets.map((runId) => signal(runId)) }),
      );

      expect(result).toEqual({ state: 'committed' });
      expect(await inboxIds(open)).toEqual(['n1']);
      for (const runId of [foreign, ended]) {
        expect(await subject.store.readCommand(runId, 'n1')).toBeUndefined();
        expect((await subject.store.readRun(runId, undefined))?.pendingCommands).toEqual([]);
      }
      expect(await subject.store.nextDueAt()).toBeUndefined();
    });

    it('is dropped where a command of its id was consumed before, and wakes no process', async () => {
      const [sender, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      const commandResult = { applied: false, status: 'running' } as const;
      await given(
        subject.store,
        commandUnit(parent, 'n1'),
        appendUnit(parent, 0, {
          consume: [{ commandId: 'n1', commandResult }],
          head: waiting,
          release: true,
        }),
      );

      await given(
        subject.store,
        appendUnit(sender, 0, { notify: [signal(parent, 'n1', { type: 'resume' })] }),
      );

      expect(await subject.store.readInbox(parent)).toEqual([]);
      expect(await subject.store.readCommand(parent, 'n1')).toMatchObject({ command: cancel, commandResult });
      expect(await subject.store.claimDue('h1', 5)).toEqual([]);
    });

    it('is dropped where a command of its id waits, which stays as it was', async () => {
      const [sender, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, commandUnit(parent, 'n1'));

      await given(
        subject.store,
        appendUnit(sender, 0, { notify: [signal(parent, 'n1', { type: 'resume' })] }),
      );

      expect(await subject.store.readInbox(parent)).toMatchObject([{ commandId: 'n1', command: cancel }]);
    });

    it('is one when it is sent twice, in one unit or in two', async () => {
      const [sender, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];

      await given(
        subject.store,
        appendUnit(sender, 0, { notify: [signal(parent), signal(parent)] }),
        appendUnit(sender, 1, { notify: [signal(parent)] }),
      );

      expect(await inboxIds(parent)).toEqual(['n1']);
      expect((await subject.store.readRun(parent, 'acme'))?.pendingCommands).toEqual(['cancel']);
    });

    it('is not bound by the inbox’s limit, but counts for the commands that are', async () => {
      const [sender, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, commandUnit(parent, 'c1', { inboxLimit: 1 }));

      await given(
        subject.store,
        appendUnit(sender, 0, { notify: [signal(parent, 'n1'), signal(parent, 'n2')] }),
      );

      expect(await inboxIds(parent)).toEqual(['c1', 'n1', 'n2']);
      expect(await commitOne(subject.store, commandUnit(parent, 'c2', { inboxLimit: 3 }))).toEqual({
        state: 'refused',
        reason: 'inbox_full',
      });
    });

    it('is not sent by a unit that is refused, for whatever reason', async () => {
      const [sender, ended] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      const record = idempotencyRecord();
      await given(
        subject.store,
        appendUnit(ended, 0, { head: completed }),
        appendUnit(sender, 0, { idempotency: record }),
      );
      const parent = await givenFreeRun(subject.store, waiting);
      const notify = [signal(parent)];

      const results = await subject.store.commit([
        appendUnit(sender, 5, { notify }),
        appendUnit(sender, 1, { notify, epoch: 9 }),
        appendUnit(sender, 1, { notify, idempotency: record }),
        appendUnit(ended, 1, { notify }),
        appendUnit(newRunId(), 0, { notify }),
        createUnit(sender, { notify }),
      ]);

      expect(results.map(({ state }) => state)).toEqual(results.map(() => 'refused'));
      expect(await subject.store.readInbox(parent)).toEqual([]);
      expect(await subject.store.nextDueAt()).toBeUndefined();
    });

    it('may come with the creation of a run', async () => {
      const parent = await givenFreeRun(subject.store, waiting);
      const [child, foreign] = [newRunId(), newRunId()];

      await given(
        subject.store,
        createUnit(child, { holder: 'h1', notify: [signal(parent, 'n1')] }),
        createUnit(foreign, { record: { tenant: 'other' }, notify: [signal(parent, 'n2')] }),
      );

      expect(await inboxIds(parent)).toEqual(['n1']);
    });

    it('may go to a run created in an earlier unit of the same group', async () => {
      const parent = await givenHeldRun(subject.store);
      const child = newRunId();

      await given(
        subject.store,
        createUnit(child, { head: waiting }),
        appendUnit(parent, 0, { notify: [signal(child)] }),
      );

      expect(await inboxIds(child)).toEqual(['n1']);
      expect(await subject.store.claimDue('h1', 5)).toMatchObject([{ runId: child, epoch: 1 }]);
    });

    it('does not reach a run that ended in an earlier unit of the same group', async () => {
      const [sender, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];

      await given(
        subject.store,
        appendUnit(parent, 0, { head: completed }),
        appendUnit(sender, 0, { notify: [signal(parent)] }),
      );

      expect(await subject.store.readCommand(parent, 'n1')).toBeUndefined();
    });

    it('of several in one unit keeps its place', async () => {
      const [sender, parent] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      const other = await givenHeldRun(subject.store);

      await given(
        subject.store,
        appendUnit(sender, 0, {
          notify: [signal(parent, 'z'), signal(other, 'y'), signal(parent, 'a', { type: 'resume' })],
        }),
        commandUnit(parent, 'm'),
      );

      expect(await inboxIds(parent)).toEqual(['z', 'a', 'm']);
      expect(await inboxIds(other)).toEqual(['y']);
      expect((await subject.store.readRun(parent, 'acme'))?.pendingCommands).toEqual([
        'cancel',
        'resume',
        'cancel',
      ]);
    });

    it('is neither lost nor doubled when many groups send to one run, which writes meanwhile', async () => {
      const parent = await givenHeldRun(subject.store);
      const children = await Promise.all(Array.from({ length: 12 }, () => givenHeldRun(subject.store)));

      const sent = children.map((child, index) =>
        given(
          subject.store,
          appendUnit(child, 0, { notify: [signal(parent, `own-${index}`), signal(parent)] }),
        ),
      );
      const written = [0, 1, 2].map((seq) => commitOne(subject.store, appendUnit(parent, seq)));
      await Promise.all([...sent, ...written]);

      const ids = await inboxIds(parent);
      expect([...ids].sort()).toEqual(['n1', ...children.map((_, index) => `own-${index}`)].sort());
      expect((await subject.store.readRun(parent, 'acme'))?.pendingCommands).toHaveLength(13);
    });

    it('goes both ways between two runs that tell each other at the same time', async () => {
      const [one, two] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];

      await Promise.all([
        given(subject.store, appendUnit(one, 0, { notify: [signal(two)] })),
        given(subject.store, appendUnit(two, 0, { notify: [signal(one)] })),
      ]);

      expect(await inboxIds(one)).toEqual(['n1']);
      expect(await inboxIds(two)).toEqual(['n1']);
    });
  });

  describe('a child run', () => {
    const childOf = (parent: string): RunUnit => {
      const unit = createUnit(newRunId());
      const create = unit.create && { ...unit.create, whileOpen: parent };
      return { ...unit, ...(create !== undefined && { create }) };
    };

    it('is created while its parent is open', async () => {
      const parent = await givenHeldRun(subject.store);
      const child = childOf(parent);

      expect(await commitOne(subject.store, child)).toEqual({ state: 'committed' });
      expect(await commitOne(subject.store, child)).toMatchObject({ reason: 'run_exists' });
    });

    it('is not created for a parent that has ended, in the same group or before, or never was', async () => {
      const [ended, ending] = [await givenHeldRun(subject.store), await givenHeldRun(subject.store)];
      await given(subject.store, appendUnit(ended, 0, { head: completed }));
      const children = [childOf(ended), childOf(ending), childOf(newRunId())];

      const results = await subject.store.commit([appendUnit(ending, 0, { head: completed }), ...children]);

      expect(results.slice(1).map((result) => 'reason' in result && result.reason)).toEqual([
        'parent_ended',
        'parent_ended',
        'parent_ended',
      ]);
      for (const { runId } of children) expect(await subject.store.readRun(runId, undefined)).toBeUndefined();
    });

    it('that races with its parent’s end is either not created, or gets the signal', async () => {
      for (let round = 0; round < 20; round += 1) {
        const parent = await givenHeldRun(subject.store);
        const child = childOf(parent);

        const [created] = await Promise.all([
          commitOne(subject.store, child),
          commitOne(subject.store, appendUnit(parent, 0, { head: completed, notify: [signal(child.runId)] })),
        ]);

        const received = created.state === 'committed' ? await inboxIds(child.runId) : ['n1'];
        expect(received).toEqual(['n1']);
      }
    });
  });
}
