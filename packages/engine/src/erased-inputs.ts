import type { JsonObject } from '@weft/protocol';
import { MASK } from './core/scan/marks.ts';

/** What is left of a run's inputs once they are erased: their names, so that a snapshot still shows that they were there. */
export function erasedInputs(inputs: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(inputs).map((name) => [name, MASK]));
}
