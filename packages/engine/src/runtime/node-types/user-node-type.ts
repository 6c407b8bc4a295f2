import { nextCall } from '../../core/steps/worker-calls.ts';
import type {
  EffectNodeType,
  NodeInput,
  PrepareTools,
  StepMove,
  StepsNodeType,
} from '../../model/node-type.ts';
import { variableMisfit } from '../../nodes/data/variable-type.ts';
import type { RegisteredNodeType } from './node-types.ts';
import { portsOf, type TypeSchemas } from './type-schemas.ts';
import { userQuestion } from './user-question.ts';

/** A registered type as a definition is compiled with it. A worker performs it, never the host. */
export function userNodeType(type: RegisteredNodeType, schemas: TypeSchemas): EffectNodeType | StepsNodeType {
  const called = effectType(type, schemas);
  return called.servedBy.uses.length === 0 ? called : callingType(called);
}

type Served = NonNullable<StepsNodeType['called']>;

function effectType(type: RegisteredNodeType, schemas: TypeSchemas): Served {
  const { typeId, version, digest, secrets = [], timeoutMs, heartbeatTimeoutMs, uses = [] } = type;
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
      uses,
      checkInputs: (values, budget) => schemas.of(type).inputs(values, budget),
      checkOutputs: (values, budget) => schemas.of(type).outputs(values, budget),
    },
    perform: () => Promise.reject(new Error(`${typeId} is performed by a worker, not by the host.`)),
  };
}

/** Code that uses its run: its calls are steps of its node, with questions in between. */
function callingType(called: Served): StepsNodeType {
  const { kind: _, servedBy: _by, toolInputs: _tool, perform: _perform, ...described } = called;
  return {
    ...described,
    kind: 'steps',
    called,
    prepare: (_config, { variables }): Prepared => ({ variables }),
    next(input, history) {
      const move = nextCall(history, (ask) => userQuestion(ask, input));
      checkVariables(input, move);
      return move;
    },
    perform: () =>
      Promise.reject(new Error(`${described.typeId} is performed by a worker, not by the host.`)),
  };
}

type Prepared = Pick<PrepareTools, 'variables'>;

function checkVariables({ prepared }: NodeInput, move: StepMove): void {
  const { variables } = prepared as Prepared;
  for (const [name, value] of Object.entries(('outputs' in move && move.variables) || {})) {
    const problem = variableMisfit(name, variables.get(name)?.type, value);
    if (problem !== undefined) throw problem;
  }
}
