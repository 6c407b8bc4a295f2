import type { AgentEntry, AgentRef, JsonObject } from '@weft/protocol';

/** An agent of a pack as the store keeps it, for ever: its instructions, and what it may do. */
export interface InstalledAgent
  extends Pick<
    AgentEntry,
    | 'agentId'
    | 'persona'
    | 'label'
    | 'description'
    | 'modelClass'
    | 'packName'
    | 'packVersion'
    | 'toolAllowlist'
    | 'memoryShape'
    | 'confidenceThreshold'
  > {
  readonly systemPrompt: string;
  /** Of what it is given, and of what it returns. */
  readonly taskSchema?: JsonObject;
  readonly returnSchema?: JsonObject;
}

/** A reference that names an agent of a pack, in its registered form. */
export interface PinnedAgent {
  readonly agentId: string;
  readonly version: string;
}

/** What a reference pins. Others are names alone: their instructions are in the node's config. */
export function pinnedAgent(ref: AgentRef | undefined): PinnedAgent | undefined {
  if (ref?.version === undefined || ref.sourceManifestId !== ref.agentId) return undefined;
  const { agentId, version } = ref;
  return { agentId, version };
}

/** Neither of the two holds an at sign. */
export function agentName({ agentId, version }: PinnedAgent): string {
  return `${agentId}@${version}`;
}
