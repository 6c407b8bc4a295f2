import { type Clock, SYSTEM_CLOCK } from '@weft/engine';
import { usageError } from '../../exit-code.ts';
import type { Io } from '../../io.ts';

/** Settings of test hosts alone; a host without `--conformance` ignores them. */
export interface TestOnly {
  /** Off by WEFT_TEST_CLOCK_OFFSET_MS from this machine's. */
  readonly clock?: Clock;
  /** WEFT_TEST_SQLITE_MAX_PAGES: pages that the database file may have. */
  readonly maxPageCount?: number;
  /** WEFT_TEST_DELIVERY_HASTE: divides the waits between attempts of a delivery. */
  readonly retryScaleForTests?: number;
}

export function testOnly(env: Io['env'], conformance: boolean): TestOnly {
  if (!conformance) return {};
  const offsetMs = whole(env, 'WEFT_TEST_CLOCK_OFFSET_MS');
  const maxPageCount = whole(env, 'WEFT_TEST_SQLITE_MAX_PAGES');
  const retryScaleForTests = whole(env, 'WEFT_TEST_DELIVERY_HASTE');
  return {
    ...(offsetMs !== undefined && { clock: { ...SYSTEM_CLOCK, now: () => SYSTEM_CLOCK.now() + offsetMs } }),
    ...(maxPageCount !== undefined && { maxPageCount }),
    ...(retryScaleForTests !== undefined && retryScaleForTests > 0 && { retryScaleForTests }),
  };
}

function whole(env: Io['env'], name: string): number | undefined {
  const value = env[name];
  if (value === undefined || value === '') return undefined;
  if (!/^-?\d{1,12}$/.test(value)) throw usageError(`${name} must be a whole number, not "${value}".`);
  return Number(value);
}
