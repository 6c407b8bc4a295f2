import type { Json } from '@weft/protocol';
import { stringifyCooperatively } from '../../core/json/large-json.ts';
import { runCooperatively } from './run-cooperatively.ts';

/** JSON of an answer that may be large: written in turns with everybody else's requests. */
export function jsonText(tenant: string, value: unknown): Promise<string> {
  return runCooperatively(tenant, stringifyCooperatively(value as Json));
}
