import type { Audit, Caller, Log } from '@weft/engine';
import type { Call } from '../call.ts';
import { addressOf } from './client-address.ts';

/**
 * Refused callers, on record. At most so many per second are written; the next one says how many were left out, so that
 * guessing keys costs the guesser and not the store. The credential itself is never part of it.
 */
export interface Denials {
  record(call: Call, caller: Caller | undefined, code: string): void;
}

export function createDenials(
  audit: Pick<Audit, 'record'>,
  log: Log,
  perSecond: number,
  now: () => number = Date.now,
): Denials {
  let second = 0;
  let written = 0;
  let leftOut = 0;

  function admitted(): boolean {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      written = 0;
    }
    written += 1;
    return written <= perSecond;
  }

  return {
    record(call, caller, code) {
      if (!admitted()) {
        leftOut += 1;
        return;
      }
      const suppressed = leftOut;
      leftOut = 0;
      audit
        .record({
          tenant: caller?.tenant ?? '',
          actor: caller?.principal ?? 'anonymous',
          action: 'access.denied',
          target: `${call.method} ${call.routeOptions.url ?? ''}`,
          details: {
            code,
            requestId: call.id,
            address: addressOf(call),
            ...(caller === undefined ? {} : { keyId: caller.keyId }),
            ...(suppressed === 0 ? {} : { suppressed }),
          },
        })
        .catch((cause: unknown) => {
          const errorName = cause instanceof Error ? cause.name : typeof cause;
          log('error', { requestId: call.id, errorName }, 'a denial could not be written to the audit trail');
        });
    },
  };
}
