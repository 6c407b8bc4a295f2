import { canonicalJson, type JsonObject, WorkBudget } from '@weft/protocol';
import { sha256Hex } from '../../crypto/hash.ts';
import type { EffectNodeType, NodeType, PrepareTools } from '../../model/node-type.ts';
import { checkConfig } from '../../core/compile/check-config.ts';
import type { ListedTool } from './agent-history.ts';
import type { ToolPattern } from './tool-patterns.ts';

/** Node types that an agent is given as tools, by type id. Whatever cannot be one is refused at registration, with the reason. */
export function nodeToolsIn(
  patterns: readonly ToolPattern[],
  tools: PrepareTools,
): ReadonlyMap<string, EffectNodeType> {
  const found = new Map<string, EffectNodeType>();
  for (const [index, { source, tool, version }] of patterns.entries()) {
    if (source !== 'node') continue;
    const type = tools.nodeType(tool, version);
    const problem = typeof type === 'string' ? type : problemOf(type);
    if (problem !== undefined || typeof type === 'string' || type.kind !== 'effect')
      return tools.refuse(`/tools/${index}`, problem ?? '');
    found.set(tool, type);
  }
  return found;
}

const SUSPENDS: ReadonlySet<NodeType['kind']> = new Set(['interrupt', 'timer', 'children', 'steps', 'loop']);

function problemOf(type: NodeType): string | undefined {
  const { typeId, kind, toolInputs } = type;
  if (SUSPENDS.has(kind))
    return `Node type "${typeId}" waits or leads on to others, so it cannot be a tool; put it into a workflow and name that: workflow:WORKFLOW_ID.`;
  if (kind !== 'effect' || toolInputs === undefined)
    return `Node type "${typeId}" of this host is not offered as a tool; types of your own code are.`;
  const [first] = checkConfig(type, {}, new WorkBudget());
  return first && `Node type "${typeId}" cannot be a tool, because it needs a config: ${first.message}.`;
}

/** As the model hears of it. */
export function listedNode(type: EffectNodeType): ListedTool {
  const { typeId, title, summary, toolInputs = NO_INPUTS, servedBy } = type;
  const description = summary === '' ? title : summary;
  return {
    source: 'node',
    server: '',
    name: typeId,
    description,
    inputSchema: toolInputs,
    digest: servedBy?.digest ?? sha256Hex(canonicalJson({ typeId, description, inputs: toolInputs })),
    isReadOnly: false,
    isIdempotent: false,
    isDestructive: false,
  };
}

const NO_INPUTS: JsonObject = { type: 'object' };
