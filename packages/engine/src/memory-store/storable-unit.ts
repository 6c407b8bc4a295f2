import { isStorable } from '../model/storable-text.ts';

/** What databases keep as JSON text, in which everything can be said. */
const KEPT_AS_JSON = new Set([
  'inputs',
  'configurable',
  'metadata',
  'command',
  'commandResult',
  'details',
  'body',
  'suspicion',
]);

/** Whether a database could keep every text of a unit as it is. */
export function isStorableUnit(part: unknown): boolean {
  if (typeof part === 'string') return isStorable(part);
  if (typeof part !== 'object' || part === null || part instanceof Uint8Array) return true;
  return Object.entries(part).every(([name, value]) => KEPT_AS_JSON.has(name) || isStorableUnit(value));
}
