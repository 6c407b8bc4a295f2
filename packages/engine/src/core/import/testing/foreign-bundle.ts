import { canonicalJson, type JsonObject } from '@weft/protocol';
import { sha256Hex } from '../../../crypto/hash.ts';

/** Bundles as other hosts write them. */

export interface ForeignEvent {
  readonly type: string;
  readonly nodeId?: string;
  readonly payload?: JsonObject | null;
}

/** A run of two nodes that ends well. */
export const TWO_NODES: readonly ForeignEvent[] = [
  { type: 'run.started', payload: { inputs: {} } },
  { type: 'node.started', nodeId: 'fetch', payload: { nodeId: 'fetch', typeId: 'acme.fetch' } },
  { type: 'acme.cache.missed', nodeId: 'fetch', payload: { key: 'k' } },
  { type: 'node.completed', nodeId: 'fetch', payload: { nodeId: 'fetch', outputs: { page: 'hello' } } },
  { type: 'node.started', nodeId: 'send', payload: { nodeId: 'send', typeId: 'acme.send' } },
  { type: 'node.completed', nodeId: 'send', payload: { nodeId: 'send', outputs: {} } },
  { type: 'run.completed', payload: { outputs: { sent: 1 } } },
];

export function at(index: number): string {
  return new Date(Date.UTC(2026, 4, 1, 12, 0, index)).toISOString();
}

/** The canonical names of members. */
export function modern(events: readonly ForeignEvent[]): JsonObject[] {
  return events.map(({ type, nodeId, payload = {} }, index) => ({
    eventId: `evt-${index}`,
    runId: 'far-1',
    sequence: index,
    type,
    timestamp: at(index),
    nodeId: nodeId ?? null,
    payload,
  }));
}

/** The names that older hosts use. */
export function dated(events: readonly ForeignEvent[]): JsonObject[] {
  return events.map(({ type, nodeId, payload = {} }, index) => ({
    seq: index,
    type,
    timestamp: at(index),
    nodeId: nodeId ?? null,
    data: payload,
  }));
}

export function foreignBundle(changes: JsonObject = {}, events = modern(TWO_NODES)): JsonObject {
  return {
    bundleVersion: '1',
    generatedAt: '2026-05-01T12:34:56.000Z',
    host: { name: 'acme-flow', version: '4.2', vendor: 'Acme' },
    run: {
      runId: 'far-1',
      workflowId: 'letters',
      status: 'completed',
      startedAt: at(0),
      endedAt: at(6),
      error: null,
      inputs: {},
      variables: {},
    },
    events,
    spans: [],
    metrics: { openwopCost: null, nodeCount: 2, eventCount: events.length },
    redactionApplied: true,
    redactionMode: 'omit',
    ...changes,
  };
}

/** With the member that only our bundles have, and a digest that holds. */
export function withDigest(bundle: JsonObject, extras: JsonObject = {}): JsonObject {
  const { weft: _weft, ...covered } = bundle;
  return { ...covered, weft: { digest: sha256Hex(canonicalJson(covered)), masked: [], ...extras } };
}
