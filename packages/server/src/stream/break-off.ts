import { HostError } from '@weft/protocol';
import type { AppContext } from '../app-context.ts';

interface Broken {
  readonly runId: string;
  /** For the log. */
  readonly what: string;
  readonly error: unknown;
}

interface Answer {
  readonly request: { readonly id: string };
  readonly raw: { destroy(): unknown };
}

/**
 * Ends an answer that has begun and cannot be completed: its reader sees that it was cut off. That the run was removed
 * meanwhile, for one, is what its owner wanted, and no failure of the host.
 */
export function breakOff(
  context: Pick<AppContext, 'log'>,
  answer: Answer,
  { runId, what, error }: Broken,
): void {
  const fields = { runId, requestId: answer.request.id };
  if (error instanceof HostError) context.log('info', { ...fields, code: error.code }, what);
  else {
    const errorName = error instanceof Error ? error.name : typeof error;
    context.log('error', { ...fields, errorName }, what);
  }
  answer.raw.destroy();
}
