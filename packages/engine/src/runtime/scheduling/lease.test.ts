import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { START } from '../../store-contract/fixtures.ts';
import { createLease, type Lease } from './lease.ts';
import { SILENT } from '../../ports/log.ts';
import { testClock } from '../testing/test-clock.ts';

const TTL_MS = 3_000;

describe('a lease', () => {
  const clock = testClock(START);
  let lease: Lease;
  afterEach(() => lease.stop());

  /** A heartbeat is answered when the test says so. */
  function newLease() {
    const beats: { readonly holder: string; readonly answer: () => void }[] = [];
    let lost = 0;
    lease = createLease({
      store: {
        heartbeat: (holder) => new Promise((answer) => beats.push({ holder, answer: () => answer() })),
      },
      clock,
      random: randomBytes,
      ttlMs: TTL_MS,
      everyMs: 60_000,
      log: SILENT,
      about: () => '',
      onLost: () => {
        lost += 1;
      },
    });
    return { beats, lost: () => lost };
  }

  it('that was lost while a heartbeat was on its way does not come back under its old name (W-19, W-20, W-21)', async () => {
    const { beats, lost } = newLease();
    const started = lease.start();
    beats[0]?.answer();
    await started;
    const old = lease.holder();
    clock.advance(1_800);
    lease.renew();
    clock.advance(300);

    expect(lease.holder()).toBeUndefined();
    beats[1]?.answer();
    await Promise.resolve();

    expect(beats[1]?.holder).toBe(old);
    expect(lost()).toBe(1);
    await new Promise(setImmediate);
    expect(lease.holder()).toBeUndefined();
    lease.renew();
    beats[2]?.answer();
    await new Promise(setImmediate);
    expect(lease.holder()).toBeDefined();
    expect(lease.holder()).not.toBe(old);
  });
});
