import type { Json, JsonObject } from '@weft/protocol';
import type { NodeInput, Question } from '../../model/node-type.ts';

/** Below this a decision goes to a person, unless the run's options or the agent's pack say otherwise. */
const DEFAULT_THRESHOLD = 0.7;

/**
 * The question to ask when a decision is not sure enough; undefined when it may stand. Without a confidence, or with one that
 * is no number, there is nothing to evaluate by.
 */
export function doubt(
  { configurable }: Pick<NodeInput, 'configurable'>,
  agentId: string,
  decision: Json,
  confidence: Json | undefined,
  otherwise: number = DEFAULT_THRESHOLD,
): Question | undefined {
  const asked = configurable['escalationThreshold'];
  const threshold = typeof asked === 'number' && asked >= 0 && asked <= 1 ? asked : otherwise;
  if (typeof confidence !== 'number' || confidence >= threshold) return undefined;
  const data: JsonObject = { agentId, threshold, observed: confidence, decision };
  return { kind: 'low-confidence', data };
}

/** Who speaks: the agent that is pinned to the node, or the host in its place. */
export function agentIdOf({ agent, nodeId }: Pick<NodeInput, 'agent' | 'nodeId'>, standIn: string): string {
  return agent?.agentId ?? `host:${standIn}:${nodeId}`;
}
