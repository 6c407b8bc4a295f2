import type { AgentManifest } from './agent-schema.ts';
import type { PackManifest } from './manifest-schema.ts';

/** What is wrong with an agent of a manifest beyond its shape. */
export interface AgentProblem {
  /** JSON Pointer in the manifest. */
  readonly path: string;
  readonly message: string;
}

/** `SCOPE:TOOL`; a scope is `openwop`, `mcp`, or one of a host. */
const TOOL = /^([a-z][a-z0-9_.-]*):\S+$/;

/** The scope of a tool's name; undefined where it is none. */
export function toolScope(tool: string): string | undefined {
  return TOOL.exec(tool)?.[1];
}

/** The first of them. */
export function agentProblem({ name, agents = [] }: PackManifest): AgentProblem | undefined {
  const seen = new Set<string>();
  for (const [index, agent] of agents.entries()) {
    const found = problemOf(agent, name, seen);
    if (found !== undefined) return { ...found, path: `/agents/${index}${found.path}` };
    seen.add(agent.agentId);
  }
  return undefined;
}

function problemOf(agent: AgentManifest, pack: string, seen: ReadonlySet<string>): AgentProblem | undefined {
  const { agentId, systemPrompt, systemPromptRef, toolAllowlist = [] } = agent;
  const own = agentId.slice(pack.length + 1);
  if (!agentId.startsWith(`${pack}.`) || !/^[a-z][a-zA-Z0-9_-]*$/.test(own))
    return {
      path: '/agentId',
      message: `ids of agents are the name of the pack and one more part: ${pack}.NAME`,
    };
  if (seen.has(agentId)) return { path: '/agentId', message: `${agentId} is there twice` };
  if ((systemPrompt === undefined) === (systemPromptRef === undefined))
    return {
      path: '',
      message: 'it has either "systemPrompt" or "systemPromptRef", not both and not neither',
    };
  const nameless = toolAllowlist.findIndex((tool) => toolScope(tool) === undefined);
  if (nameless !== -1)
    return {
      path: `/toolAllowlist/${nameless}`,
      message: 'names of tools are SCOPE:TOOL, such as mcp:SERVER/TOOL',
    };
  return undefined;
}
