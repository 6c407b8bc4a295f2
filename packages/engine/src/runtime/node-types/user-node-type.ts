import type { EffectNodeType } from '../../model/node-type.ts';
import type { RegisteredNodeType } from './node-types.ts';
import { portsOf, type TypeSchemas } from './type-schemas.ts';

/** A registered type as a definition is compiled with it. A worker performs it, never the host. */
export function userNodeType(type: RegisteredNodeType, schemas: TypeSchemas): EffectNodeType {
  const { typeId, version, digest, secrets = [], timeoutMs, heartbeatTimeoutMs } = type;
  const inputs = portsOf(type.inputs);
  const outputs = portsOf(type.outputs);
  return {
    kind: 'effect',
    typeId,
    title: type.title ?? typeId,
    summary: type.summary ?? '',
    config: type.config ?? { type: 'object', properties: {} },
    checkConfig: (config, budget) => schemas.of(type).config(config, budget),
    inputPorts: inputs,
    toolInputs: type.inputs ?? { type: 'object', properties: {} },
    ...(!outputs.isOpen && { outputPorts: outputs.named }),
    ...(secrets.length > 0 && { requiresSecrets: () => secrets }),
    ...(timeoutMs !== undefined && { defaultTimeoutMs: timeoutMs }),
    servedBy: {
      typeId,
      version,
      digest,
      secrets,
      heartbeatTimeoutMs,
      checkInputs: (values, budget) => schemas.of(type).inputs(values, budget),
      checkOutputs: (values, budget) => schemas.of(type).outputs(values, budget),
    },
    perform: () => Promise.reject(new Error(`${typeId} is performed by a worker, not by the host.`)),
  };
}
