import type { JsonObject } from '@weft/protocol';
import type { PackFiles } from '../archive/read-archive.ts';
import { AGENT_LIMITS, type AgentManifest } from '../manifest/agent-schema.ts';
import type { PackManifest } from '../manifest/manifest-schema.ts';
import { PackError } from '../pack-error.ts';
import { usableSchemaAt } from './schema-file.ts';
import { textAt } from './text-file.ts';

/** An agent of a pack, with what its manifest only names. */
export interface PackAgent {
  readonly manifest: AgentManifest;
  readonly systemPrompt: string;
  readonly taskSchema?: JsonObject;
  readonly returnSchema?: JsonObject;
}

/** Throws PackError when the manifest names files that are not there, or cannot be used. */
export function agentsOf({ agents = [] }: PackManifest, files: PackFiles): readonly PackAgent[] {
  return agents.map((manifest, index) => {
    const { agentId, handoff = {} } = manifest;
    const schemaOf = (field: 'taskSchemaRef' | 'returnSchemaRef') => {
      const ref = handoff[field];
      return ref === undefined ? undefined : usableSchemaAt(ref, `${agentId}: handoff.${field}`, files);
    };
    const taskSchema = schemaOf('taskSchemaRef');
    const returnSchema = schemaOf('returnSchemaRef');
    return {
      manifest,
      systemPrompt: promptOf(manifest, index, files),
      ...(taskSchema !== undefined && { taskSchema }),
      ...(returnSchema !== undefined && { returnSchema }),
    };
  });
}

function promptOf(agent: AgentManifest, index: number, files: PackFiles): string {
  const { agentId, systemPrompt, systemPromptRef } = agent;
  if (systemPromptRef === undefined) return systemPrompt ?? '';
  const text = textAt(systemPromptRef, `${agentId}: systemPromptRef`, files, 'invalid_manifest');
  if (text.trim() !== '' && text.length <= AGENT_LIMITS.prompt) return text;
  throw new PackError(
    'invalid_manifest',
    `${agentId}: ${systemPromptRef} has ${text.length} characters; a prompt has 1 to ${AGENT_LIMITS.prompt}.`,
    { details: { field: `agents.${index}.systemPromptRef` } },
  );
}
