import { DamagedRunError } from '@weft/engine';

/** Parses what was written about a run. Throws DamagedRunError where it is no JSON any more. */
export function readOfRun<Value>(runId: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw error instanceof SyntaxError ? new DamagedRunError(runId, undefined) : error;
  }
}

/** Undefined where what is read is damaged. */
export function ifWhole<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedRunError) return undefined;
    throw error;
  }
}
