import type { AgentEntry } from '@weft/protocol';
import type { OfferedAgent } from '../../host/surface/agents.ts';

/** What anyone of the tenant may know of an agent: neither its prompt nor its schemas. */
export function entryOf(agent: OfferedAgent): AgentEntry {
  const { systemPrompt: _prompt, taskSchema, returnSchema, degraded = [], ...shown } = agent;
  const missing = missingMemory(agent);
  return {
    ...shown,
    toolAllowlist: [...shown.toolAllowlist],
    hasHandoffSchemas: taskSchema !== undefined || returnSchema !== undefined,
    ...(degraded.length > 0 && { degraded: [...degraded] }),
    ...(missing.length > 0 && { memoryDegraded: true, degradedMemoryDimensions: missing }),
  };
}

type MemoryDimension = NonNullable<AgentEntry['degradedMemoryDimensions']>[number];

/** What an agent hears and says in one execution of its node is its scratchpad; it has no other memory here. */
function missingMemory({ memoryShape = {} }: OfferedAgent): MemoryDimension[] {
  return [
    ...(memoryShape.conversation === true ? (['read', 'write'] as const) : []),
    ...(memoryShape.longTerm === true ? (['long-term'] as const) : []),
  ];
}
