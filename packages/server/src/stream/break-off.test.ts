import { HostError } from '@weft/protocol';
import { describe, expect, it, vi } from 'vitest';
import { breakOff } from './break-off.ts';

describe('an answer that is broken off', () => {
  it.each([
    ['the run was removed meanwhile', new HostError('run_expired', 'gone'), 'info', { code: 'run_expired' }],
    ['something failed', new TypeError('secret-looking text'), 'error', { errorName: 'TypeError' }],
    ['something was thrown', 'a text', 'error', { errorName: 'string' }],
  ])('because %s is logged for what it is, and destroyed', (_, error, level, why) => {
    const log = vi.fn();
    const destroy = vi.fn();

    breakOff(
      { log },
      { request: { id: 'q1' }, raw: { destroy } },
      { runId: 'r1', what: 'a log could not be sent', error },
    );

    expect(log).toHaveBeenCalledWith(
      level,
      { runId: 'r1', requestId: 'q1', ...why },
      'a log could not be sent',
    );
    expect(destroy).toHaveBeenCalledOnce();
  });
});
