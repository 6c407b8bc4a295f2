import { describe, expect, it } from 'vitest';
import { diffEvents, findDivergence, type LogPages } from './diff-events.ts';
import type { LogEvent } from './same-event.ts';

function event(seq: number, payload: string, type = 'node.completed'): LogEvent {
  return { seq, type, payload, document: `{"sequence":${seq},"payload":${payload}}` };
}

interface Watched {
  readonly pages: LogPages;
  readonly seen: { pages: number; isClosed: boolean };
}

/** A log that tells how far it was read and whether it was let go. */
function watched(events: readonly LogEvent[], pageLength: number): Watched {
  const seen = { pages: 0, isClosed: false };
  async function* read(): AsyncGenerator<readonly LogEvent[]> {
    try {
      for (let start = 0; start < events.length; start += pageLength) {
        seen.pages += 1;
        yield events.slice(start, start + pageLength);
      }
    } finally {
      seen.isClosed = true;
    }
  }
  return { pages: read(), seen };
}

async function ops(a: readonly LogEvent[], b: readonly LogEvent[]): Promise<string[]> {
  const found: string[] = [];
  for await (const difference of diffEvents(watched(a, 2).pages, watched(b, 3).pages))
    found.push(`${difference.op} ${difference.seq}`);
  return found;
}

describe('two logs', () => {
  it('are aligned by sequence, so that after an insertion everything differs (E-28)', async () => {
    const a = [event(0, '"x"'), event(1, '"y"'), event(2, '"z"')];
    const b = [event(0, '"x"'), event(1, '"new"'), event(2, '"y"'), event(3, '"z"')];

    expect(await ops(a, b)).toEqual(['changed 1', 'changed 2', 'added 3']);
  });

  it('of which one is a prefix of the other differ by what follows', async () => {
    const long = [event(0, '1'), event(1, '2'), event(2, '3')];

    expect(await ops(long, long.slice(0, 1))).toEqual(['removed 1', 'removed 2']);
    expect(await ops([], long)).toEqual(['added 0', 'added 1', 'added 2']);
  });

  it('with the same bytes are equal without being parsed', async () => {
    const unreadable = [event(0, '{"not json')];

    expect(await ops(unreadable, unreadable)).toEqual([]);
  });

  it('differ by an excluded name below the top of the payload, and by ids that are not excluded', async () => {
    const nested = [event(0, '{"outputs":{"runId":"a"}}'), event(1, '{"childRunId":"a"}')];
    const other = [event(0, '{"outputs":{"runId":"b"}}'), event(1, '{"childRunId":"b"}')];

    expect(await ops(nested, other)).toEqual(['changed 0', 'changed 1']);
  });

  it('with half of a surrogate pair in them are still compared', async () => {
    const half = [event(0, '{"a":"\\ud800","b":1}')];

    expect(await ops(half, [event(0, '{"b":1,"a":"\\ud800"}')])).toEqual([]);
    expect(await ops(half, [event(0, '{"b":1,"a":"\\ud801"}')])).toEqual(['changed 0']);
  });

  it('are read no further than the difference that was asked for, and let go afterwards (E-31)', async () => {
    const events = Array.from({ length: 100 }, (_, seq) => event(seq, String(seq)));
    const other = events.map((each) => (each.seq >= 30 ? event(each.seq, '"other"') : each));
    const [a, b] = [watched(events, 10), watched(other, 10)];

    const found = await findDivergence(a.pages, b.pages);
    for await (const _first of found.differences) break;

    expect(found.divergedAtSeq).toBe(30);
    expect([a.seen.pages, b.seen.pages]).toEqual([4, 4]);
    expect([a.seen.isClosed, b.seen.isClosed]).toEqual([true, true]);
  });

  it('that cannot be read to the end give the reader’s error, and both are let go', async () => {
    const good = watched([event(0, '1')], 1);
    let isClosed = false;
    async function* broken(): AsyncGenerator<readonly LogEvent[]> {
      try {
        yield [event(0, '1')];
        throw new Error('gone');
      } finally {
        isClosed = true;
      }
    }

    await expect(findDivergence(good.pages, broken())).rejects.toThrow('gone');

    expect([good.seen.isClosed, isClosed]).toEqual([true, true]);
  });
});
