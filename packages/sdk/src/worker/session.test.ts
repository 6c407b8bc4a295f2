import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTransport } from '../requests/transport.ts';
import { type Deferred, deferred } from './deferred.ts';
import { createHand, type Hand } from './hand.ts';
import { createLease, type Lease, now } from './lease.ts';
import { createOutgoing } from './outgoing.ts';
import { openSession, type Session } from './session.ts';
import { taskMessage } from './testing/task-message.ts';

const LEASE_MS = 1_000;

let lease: Lease;
let hand: Hand;
let session: Session;
let say: (line: unknown) => void;
let answers: Deferred<Response>[];
let passed: number;

/** The host's side of the protocol: a stream that the test writes, and reports that it answers. */
function open(): void {
  const lines = new TransformStream<Uint8Array, Uint8Array>();
  const writer = lines.writable.getWriter();
  say = (line) => void writer.write(new TextEncoder().encode(`${JSON.stringify(line)}\n`));
  const transport = createTransport({
    baseUrl: 'http://127.0.0.1:1',
    apiKey: 'k',
    async fetch(address) {
      if (String(address).endsWith('/tasks')) return new Response(lines.readable);
      const answer = deferred<Response>();
      answers.push(answer);
      return answer.promise;
    },
  });
  const outgoing = createOutgoing();
  hand = createHand({
    ...{ concurrency: 4, outgoing, around: undefined },
    find: () => undefined,
    flush: () => undefined,
    flushSoon: () => undefined,
  });
  session = openSession({
    ...{ transport, workerId: 'w', heartbeatMs: 0, lease, hand, outgoing, capacity: 4 },
    log: () => undefined,
    leasePassed() {
      passed += 1;
      session.end('the lease has passed');
    },
  });
}

/** Looks in every turn of the event loop: the clock stands still meanwhile. */
async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 100 && !condition(); turns += 1)
    await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  lease = createLease();
  lease.begin(now(), LEASE_MS);
  answers = [];
  passed = 0;
  open();
});

afterEach(() => {
  session.end('the test is over');
  vi.useRealTimers();
});

describe('a session', () => {
  it('is extended by an answer that comes in time', async () => {
    session.beat();
    await until(() => answers.length === 1);
    vi.advanceTimersByTime(LEASE_MS / 2);

    answers[0]?.resolve(Response.json({ leaseMs: LEASE_MS * 2, refused: [] }));

    await until(() => lease.leftMs() > LEASE_MS);
    expect(lease.leftMs()).toBe(LEASE_MS * 1.5);
    expect(passed).toBe(0);
  });

  it('ends when an answer comes after the lease has passed, and is not extended by it (V-8)', async () => {
    session.beat();
    await until(() => answers.length === 1);
    vi.advanceTimersByTime(LEASE_MS);

    answers[0]?.resolve(Response.json({ leaseMs: LEASE_MS * 2, refused: [] }));

    expect(await session.ended).toBe('the lease has passed');
    expect(lease.leftMs()).toBeLessThanOrEqual(0);
    expect(passed).toBe(1);
  });

  it('ends when a task comes after the lease has passed, and does not begin it (V-7)', async () => {
    vi.advanceTimersByTime(LEASE_MS);

    say(taskMessage('a', {}));

    expect(await session.ended).toBe('the lease has passed');
    expect(hand.size).toBe(0);
    expect(passed).toBe(1);
  });

  it('does not extend the lease of the session after it', async () => {
    session.beat();
    await until(() => answers.length === 1);

    session.end('cut off');
    answers[0]?.resolve(Response.json({ leaseMs: LEASE_MS * 2, refused: [] }));
    await session.ended;
    await until(() => lease.leftMs() > LEASE_MS);

    expect(lease.leftMs()).toBe(LEASE_MS);
    expect(passed).toBe(0);
  });
});
