import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CreationRecord } from '../../model/run-state.ts';
import type { StoredEvent } from '../../ports/store.ts';
import { createFeed } from './feed.ts';

const recordOf = (runId: string, tenant: string): CreationRecord =>
  ({ runId, tenant, engineVersion: 1 }) as CreationRecord;

const record = recordOf('r1', 't');

function event(seq: number, payload = '{}'): StoredEvent {
  return { seq, type: 'log.appended', at: 1_000 + seq, payload };
}

const quiet = new AbortController().signal;

describe('the feed', () => {
  it('keeps the newest events of an attached run, bounded by number', () => {
    const feed = createFeed({ ringEvents: 3, ringBytes: 1e6, allRingBytes: 1e9 });
    const attachment = feed.attach('r1');

    feed.publish(record, [event(0), event(1)]);
    feed.publish(record, [event(2), event(3)]);

    expect(attachment.since(1)?.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(attachment.since(4)).toEqual([]);
    expect(attachment.since(0)).toBeUndefined();
  });

  it('bounds the ring by bytes, also when one event is larger than all of it', () => {
    const feed = createFeed({ ringEvents: 100, ringBytes: 10, allRingBytes: 1e9 });
    const attachment = feed.attach('r1');

    feed.publish(record, [event(0, '"123456"'), event(1, '"123456"')]);
    expect(attachment.since(1)?.map(({ seq }) => seq)).toEqual([1]);
    feed.publish(record, [event(2, JSON.stringify('x'.repeat(50)))]);

    expect(attachment.since(2)).toBeUndefined();
  });

  it('gives each ring its part where many runs are listened to', () => {
    const feed = createFeed({ ringEvents: 100, ringBytes: 1_000, allRingBytes: 10_000 });
    const runs = Array.from({ length: 100 }, (_, index) => `r${index}`);
    const attachments = runs.map((runId) => feed.attach(runId));
    const payload = JSON.stringify('x'.repeat(38));

    for (const runId of runs)
      feed.publish(
        recordOf(runId, 't'),
        Array.from({ length: 20 }, (_, seq) => event(seq, payload)),
      );

    expect(attachments.map((attachment) => attachment.since(18)?.length)).toEqual(runs.map(() => 2));
    expect(attachments[0]?.since(17)).toBeUndefined();
  });

  it('calls listeners of tenants in turn (F-4)', async () => {
    const feed = createFeed({ ringEvents: 10, ringBytes: 1e6, allRingBytes: 1e9 });
    const called: string[] = [];
    const greedy = feed.attach('g');
    for (let count = 0; count < 1_000; count += 1) greedy.listen(() => called.push('greedy'));
    feed.attach('m').listen(() => called.push('modest'));

    feed.publish(recordOf('g', 'greedy'), [event(0)]);
    feed.publish(recordOf('m', 'modest'), [event(0)]);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));

    expect(called.indexOf('modest')).toBeLessThanOrEqual(1);
  });

  it('assembles the wire document once for all listeners', () => {
    const feed = createFeed({ ringEvents: 10, ringBytes: 1e6, allRingBytes: 1e9 });
    const [one, other] = [feed.attach('r1'), feed.attach('r1')];

    feed.publish(record, [event(0, '{"a":1}')]);

    expect(one.since(0)).toBe(other.since(0));
    expect(JSON.parse(one.since(0)?.[0]?.document ?? '')).toMatchObject({
      runId: 'r1',
      sequence: 0,
      payload: { a: 1 },
    });
  });

  it('calls its listeners in later turns, a few in each, and each once for what has come until then (F-4)', async () => {
    const feed = createFeed({ ringEvents: 10, ringBytes: 1e6, allRingBytes: 1e9 });
    const attachment = feed.attach('r1');
    const calls = Array.from({ length: 250 }, () => 0);
    const stops = calls.map((_, index) =>
      attachment.listen(() => {
        calls[index] = (calls[index] ?? 0) + 1;
      }),
    );
    const called = () => calls.reduce((sum, each) => sum + each, 0);
    stops[249]?.();

    feed.publish(record, [event(0)]);
    feed.publish(record, [event(1)]);

    const perTurn = [called()];
    for (let turn = 0; turn < 4; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      perTurn.push(called());
    }
    expect(perTurn).toEqual([0, 100, 200, 249, 249]);
    expect(new Set(calls)).toEqual(new Set([1, 0]));
  });

  it('announces at once after a pause and at the end, and together what comes fast in between (F-16)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const feed = createFeed({ ringEvents: 10, ringBytes: 1e6, allRingBytes: 1e9 });
    const attachment = feed.attach('r1');
    const heard: (number | undefined)[] = [];
    attachment.listen(() => heard.push(attachment.since(0)?.length));
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const after = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      await turn();
    };

    feed.publish(record, [event(0)]);
    await turn();
    expect(heard).toEqual([1]);

    feed.publish(record, [event(1)]);
    await after(10);
    feed.publish(record, [event(2)]);
    await turn();
    expect(heard).toEqual([1]);
    await after(6);
    expect(heard).toEqual([1, 3]);

    await after(16);
    feed.publish(record, [event(3)]);
    await turn();
    expect(heard).toEqual([1, 3, 4]);

    feed.publish(record, [event(4)]);
    feed.publish(record, [{ ...event(5), type: 'run.completed' }]);
    await turn();
    await after(16);
    expect(heard).toEqual([1, 3, 4, 6]);
  });

  it('forgets a run when its last listener leaves', () => {
    const feed = createFeed({ ringEvents: 10, ringBytes: 1e6, allRingBytes: 1e9 });
    const first = feed.attach('r1');
    const second = feed.attach('r1');

    first.detach();
    first.detach();
    expect(feed.listeners()).toBe(1);
    second.detach();
    feed.publish(record, [event(0)]);

    expect(feed.listeners()).toBe(0);
    expect(feed.attach('r1').since(0)).toBeUndefined();
  });

  it('sends listeners to the store after a commit by another process (F-2)', async () => {
    const feed = createFeed({ ringEvents: 10, ringBytes: 1e6, allRingBytes: 1e9 });
    const attachment = feed.attach('r1');
    feed.publish(record, [event(0)]);
    const changed = attachment.changed(attachment.version(), 10_000, quiet);

    feed.signal('r1');

    expect(await changed).toBe(true);
    expect(attachment.since(1)).toBeUndefined();
  });

  it('stops waiting when the signal is aborted or the time is up', async () => {
    const feed = createFeed({ ringEvents: 10, ringBytes: 1e6, allRingBytes: 1e9 });
    const attachment = feed.attach('r1');
    const leaving = new AbortController();
    const aborted = attachment.changed(attachment.version(), 10_000, leaving.signal);

    leaving.abort();

    expect(await aborted).toBe(false);
    expect(await attachment.changed(attachment.version(), 1, quiet)).toBe(false);
  });

  it('never shows a ring with a gap, whatever is published (F-1)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 5 })), { maxLength: 20 }),
        (batches) => {
          const feed = createFeed({ ringEvents: 8, ringBytes: 1e6, allRingBytes: 1e9 });
          const attachment = feed.attach('r1');
          for (const [from, count] of batches) {
            feed.publish(
              record,
              Array.from({ length: count }, (_, index) => event(from + index)),
            );
            const newest = from + count - 1;
            for (let seq = 0; seq <= newest; seq += 1) {
              const seen = attachment.since(seq)?.map((each) => each.seq);
              if (seen !== undefined) {
                expect(seen).toEqual(Array.from({ length: newest - seq + 1 }, (_, index) => seq + index));
              }
            }
          }
        },
      ),
    );
  });
});
