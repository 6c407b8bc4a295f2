import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';

/** Caps of a node or of one attempt of it: breached, it fails, and the run need not. The others end the run. */
const NODE_CAPS: ReadonlySet<unknown> = new Set([
  'wasm-memory',
  'wasm-execution-time',
  'schema',
  'envelopes',
]);

export function isNodeCap(kind: unknown): boolean {
  return NODE_CAPS.has(kind);
}

/** The failure of an attempt that was over its cap, as a sandbox reports it. */
const CAP_CODE = 'wasm_cap_breached';

/** A sandbox ended the attempt: the cap is on record before the failure that it causes. */
export function breachEvents(
  error: Parameters<typeof nodeBreach>[0],
  nodeId: string,
): readonly { readonly type: 'cap.breached'; readonly payload: JsonObject }[] {
  const payload = nodeBreach(error, nodeId);
  return payload === undefined ? [] : [{ type: 'cap.breached', payload }];
}

/** What `cap.breached` says of a failed attempt; undefined when it was over no cap. */
export function nodeBreach(
  { code, details }: { readonly code: string; readonly details?: Json | undefined },
  nodeId: string,
): { kind: string; limit: number; observed: number; nodeId: string } | undefined {
  if (code !== CAP_CODE || !isJsonObject(details ?? null)) return undefined;
  const { kind, limit, observed } = details as Record<string, Json>;
  if (typeof kind !== 'string' || !isNodeCap(kind)) return undefined;
  if (typeof limit !== 'number' || typeof observed !== 'number' || !(limit >= 0 && observed > limit))
    return undefined;
  return { kind, limit, observed, nodeId };
}
