import { compileCooperatively } from '../../core/compile/compile.ts';
import { createExpressionCompiler } from '../../core/expressions/expressions.ts';
import type { HostOptions } from '../../host/host-options.ts';
import type { NodeType } from '../../model/node-type.ts';
import { BUILTIN_NODE_TYPES } from '../../nodes/index.ts';
import type { Compile } from './compile-definition.ts';
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

/** Makes definitions ready with the node types this host has. */
export function createCompile(
  options: HostOptions,
  limits: HostLimits,
  nodeTypes: ReadonlyMap<string, NodeType>,
): Compile {
  const { conformance } = options;
  const always = {
    nodeTypes,
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
    gate.pass(tenant, () =>
      runCooperatively(
        tenant,
        compileCooperatively(definition, { digest, ...always, isOffered: as === 'offered' }),
      ),
    );
}
