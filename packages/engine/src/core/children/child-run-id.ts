import { derivedUuid } from '../../crypto/hash.ts';

/** The id of a child run: a UUID (version 8) made from its parent's id and its place there, the same in every process. */
export function childRunId(parentRunId: string, nodeKey: string, numbers: readonly number[]): string {
  return derivedUuid(`weft-child\n${parentRunId}\n${nodeKey}\n${numbers.join('.')}`);
}
