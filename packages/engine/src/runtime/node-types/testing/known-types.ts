import type { JsonObject, NodeTypeDocument } from '@weft/protocol';
import { SILENT } from '../../../ports/log.ts';
import type { Store } from '../../../ports/store.ts';
import { limitsFrom } from '../../../host/limits.ts';
import { createCommitter } from '../../commits/committer.ts';
import { testClock } from '../../testing/test-clock.ts';
import type { NodeTypes, ServedTypes } from '../node-types.ts';
import { createNodeTypes } from '../registry.ts';

/** The registry of another process on the same store: what it registers, a host under test knows. */
export function registryOn(store: Store, served: ServedTypes = { isServed: () => false }): NodeTypes {
  return createNodeTypes({
    store,
    committer: createCommitter({ store, log: SILENT, maxUnits: 100, maxBytes: 1_000_000 }),
    clock: testClock(),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    limits: limitsFrom(),
    isOwn: () => false,
    served,
  });
}

export function objectSchema(properties: JsonObject, ...required: string[]): JsonObject {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** `acme.charge`: an amount in, the id of a charge out. */
export function chargeType(over: Partial<NodeTypeDocument> = {}): NodeTypeDocument {
  return {
    typeId: 'acme.charge',
    version: '1.0.0',
    config: objectSchema({ currency: { type: 'string' } }),
    inputs: objectSchema({ amount: { type: 'number' }, customer: { type: 'string' } }, 'amount'),
    outputs: objectSchema({ chargeId: { type: 'string' } }),
    ...over,
  };
}
