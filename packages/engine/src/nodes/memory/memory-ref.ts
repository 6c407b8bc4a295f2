import { type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import { type EffectInput, type MemoryEntry, type NodeEvent, NodeFailure } from '../../model/node-type.ts';

/** What the nodes that remember have in common. */

export const memoryRefConfig = Type.Optional(nameOf({ minLength: 1, maxLength: 256 }));

/** From the port, else from config, else the memory of the agent pinned to the node. */
export function memoryRefOf({ inputs, config, agent }: EffectInput): string {
  const ref = inputs['memoryRef'] ?? config['memoryRef'] ?? agent?.memoryRef;
  if (typeof ref === 'string') return ref;
  throw new NodeFailure(
    'validation_error',
    'There is no memory to use: set config.memoryRef, connect port "memoryRef", or pin an agent with one.',
    { details: { field: 'memoryRef' } },
  );
}

/** An entry as plain JSON, with the protocol's members and no others. */
export function entryJson({ id, content, tags, createdAt, expiresAt }: MemoryEntry): JsonObject {
  return { id, content, tags: [...tags], createdAt, ...(expiresAt !== undefined && { expiresAt }) };
}

/** Tells that an entry was written; the content stays where it is. */
export function memoryWritten(
  { nodeId, agent }: EffectInput,
  memoryRef: string,
  { id, tags }: MemoryEntry,
): NodeEvent {
  return {
    type: 'memory.written',
    payload: {
      memoryRef,
      memoryId: id,
      nodeId,
      ...(agent !== undefined && { agentId: agent.agentId }),
      ...(tags.length > 0 && { tags: [...tags] }),
    },
  };
}
