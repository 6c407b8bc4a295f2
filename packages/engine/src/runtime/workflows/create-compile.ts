import type { NodeTypes } from '../node-types/node-types.ts';
import { compileCooperatively, type UserTypes } from '../../core/compile/compile.ts';
import { createExpressionCompiler } from '../../core/expressions/expressions.ts';
import type { HostOptions } from '../../host/host-options.ts';
import type { NodeType } from '../../model/node-type.ts';
import { BUILTIN_NODE_TYPES } from '../../nodes/index.ts';
import type { Compile } from './compile-definition.ts';
import type { InstalledAgents } from '../agents/agents.ts';
import { agentsIn } from './pin-agents.ts';
import { usesUserTypes } from './pin-types.ts';
import { createGate } from '../fairness/gate.ts';
import { runCooperatively } from '../fairness/run-cooperatively.ts';
import type { HostLimits } from '../../host/limits.ts';
import { createRedactionHash } from '../secrets/redaction-hash.ts';

/** A definition being made ready takes up to a hundred times the memory of its text, so that a crowd of them waits as text. */
const AT_A_TIME = { inAll: 4, perTenant: 1 };

/** Node types that this host itself has, by type id. */
export function ownNodeTypes({ conformance, nodes = [] }: HostOptions): ReadonlyMap<string, NodeType> {
  const types: NodeType[] = [...BUILTIN_NODE_TYPES, ...(conformance?.nodes ?? []), ...nodes];
  return new Map(types.map((type) => [type.typeId, type]));
}

export interface KnownNodeTypes {
  /** Those of the host, by type id. */
  readonly own: ReadonlyMap<string, NodeType>;
  /** Those that workers serve. */
  readonly ofUsers: Pick<NodeTypes, 'read' | 'asNodeType'>;
  readonly agents: Pick<InstalledAgents, 'find'>;
}

/** Makes definitions ready with the node types this host has, and those that the workers of the tenant have served. */
export function createCompile(options: HostOptions, limits: HostLimits, types: KnownNodeTypes): Compile {
  const { conformance } = options;
  const always = {
    nodeTypes: types.own,
    expressions: createExpressionCompiler(),
    maxNodes: limits.maxDefinitionNodes,
    workLimits: { steps: limits.expressionSteps, bytes: limits.expressionBytes },
    maskingDefault: options.maskingDefault ?? 'mask',
    ...(options.secretsKey !== undefined && { keyedHash: createRedactionHash(options.secretsKey) }),
    runtimeCapabilities: new Set(options.runtimeCapabilities ?? []),
    hasModels: conformance !== undefined || options.models !== undefined,
  };
  const gate = createGate(AT_A_TIME);
  return (definition, digest, tenant, as) =>
    gate.pass(tenant, async () => {
      const userTypes = usesUserTypes(definition, types.own)
        ? await typesOf(tenant, types.ofUsers)
        : undefined;
      const agents = await agentsIn(definition, tenant, types.own, types.agents);
      return await runCooperatively(
        tenant,
        compileCooperatively(definition, {
          digest,
          ...always,
          ...(userTypes !== undefined && { userTypes }),
          agents,
          isOffered: as === 'offered',
        }),
      );
    });
}

async function typesOf(tenant: string, ofUsers: KnownNodeTypes['ofUsers']): Promise<UserTypes> {
  const found = new Map<string, Map<string, NodeType>>();
  for (const type of (await ofUsers.read(tenant)).all()) {
    const versions = found.get(type.typeId) ?? new Map<string, NodeType>();
    found.set(type.typeId, versions.set(type.version, ofUsers.asNodeType(type)));
  }
  return found;
}
