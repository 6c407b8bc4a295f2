import { afterEach, expect, it, vi } from 'vitest';
import { runCooperatively } from './run-cooperatively.ts';

afterEach(() => void vi.useRealTimers());

function* long(): Generator<undefined, string, undefined> {
  const until = performance.now() + 12;
  while (performance.now() < until) yield;
  return 'done';
}

it('long work ends although a test has replaced the timers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'setImmediate'] });

  await expect(runCooperatively('alice', long())).resolves.toBe('done');
});
