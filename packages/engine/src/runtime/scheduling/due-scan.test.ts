import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDueScan } from './due-scan.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a scan ends although a look of it does not', async () => {
  let looks = 0;
  const scan = createDueScan({
    clock: { now: Date.now },
    pollMs: 10,
    look: () => {
      looks += 1;
      return new Promise(() => undefined);
    },
  });
  scan.start();
  await vi.advanceTimersByTimeAsync(10);

  const stopped = scan.stop();
  await vi.advanceTimersByTimeAsync(1_000);

  await stopped;
  expect(looks).toBe(1);
});
