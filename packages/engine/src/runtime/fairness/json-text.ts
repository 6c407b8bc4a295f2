import type { Json } from '@weft/protocol';
import { stringifyInSteps } from '../../core/json/large-json.ts';
import { inTurns } from './in-turns.ts';

/** JSON of an answer that may be large: written in turns with everybody else's requests. */
export function jsonText(tenant: string, value: unknown): Promise<string> {
  return inTurns(tenant, stringifyInSteps(value as Json));
}
