import type { Caller, RunEnd, StopSignal } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { AppContext } from '../../app-context.ts';
import type { Call } from '../../call.ts';
import { parseInteger } from '../../http/query.ts';

/**
 * `Prefer: wait=SECONDS` (RFC 7240): the answer comes when the run has ended or waits for someone, or when the time is over. Longer is
 * shortened, and the answer says what was applied. Other preferences are ignored, as the RFC wants.
 */
export const MAX_WAIT_S = 60;

const SECONDS = /^(?:(\d+)|"(\d+)")$/;

/** Undefined when the client does not want to wait. */
export function preferredWait({ headers: { prefer } }: Call): number | undefined {
  if (prefer === undefined) return undefined;
  for (const preference of String(prefer).split(',')) {
    const [name = '', value = ''] = (preference.split(';')[0] ?? '').split('=', 2);
    if (name.trim().toLowerCase() !== 'wait') continue;
    const found = SECONDS.exec(value.trim());
    const seconds = parseInteger(found?.[1] ?? found?.[2] ?? '');
    if (seconds !== undefined && seconds >= 1) return Math.min(seconds, MAX_WAIT_S);
    throw new HostError('validation_error', `Prefer: wait must be whole seconds, from 1 to ${MAX_WAIT_S}.`, {
      field: 'Prefer',
    });
  }
  return undefined;
}

/** One who waits has a place among the long polls of its tenant. */
export interface Waiting {
  /** Undefined when the run still moves. */
  forEnd(runId: string): Promise<RunEnd | undefined>;
  readonly headers: Readonly<Record<string, string>>;
  end(): void;
}

/** Throws HostError `rate_limited`, so before anything is done for the call. */
export function openWait(
  context: AppContext,
  caller: Caller,
  seconds: number,
  leaving: () => StopSignal,
): Waiting {
  const place = context.streams.open(caller.tenant, 'poll');
  leaving().addEventListener('abort', place.end);
  return {
    forEnd: (runId) => context.host.runs.waitForEnd(caller, runId, seconds * 1_000, place.signal),
    headers: { 'preference-applied': `wait=${seconds}` },
    end: place.end,
  };
}
