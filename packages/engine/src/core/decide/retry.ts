import type { RetryPolicy } from '../compile/plan.ts';
import type { NodeError } from '../../model/run-state.ts';

/** Whether another attempt is due after this failure. `failures` counts the failed attempts before it. */
export function mayRetry(policy: RetryPolicy, error: NodeError, failures: number): boolean {
  return error.retryable === true && failures + 1 < policy.maxAttempts && !policy.never.includes(error.code);
}

/**
 * How long to wait before the next attempt: exponential, bounded by `maxMs`, the jittered share drawn from `random`. What a
 * server asks for (Retry-After) is honoured up to `maxMs`. The caller records the result, so a replay draws nothing.
 */
export function retryDelay(policy: RetryPolicy, failures: number, random: number, askedMs = 0): number {
  const full = Math.min(policy.maxMs, policy.initialMs * policy.factor ** failures);
  const drawn = full * (1 - policy.jitter * random);
  return Math.round(Math.max(drawn, Math.min(askedMs, policy.maxMs)));
}
