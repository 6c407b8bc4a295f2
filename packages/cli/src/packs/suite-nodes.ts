import {
  type EffectContext,
  type EffectInput,
  type EffectNodeType,
  NodeFailure,
  type NodeResult,
} from '@weft/engine';
import type * as Packs from '@weft/packs';
import { Type } from 'typebox';

/**
 * Node types of WASM packs that a conformance suite expects, for test hosts. Their modules run as those of installed packs do, but in a
 * thread of the host: a process for each test host would cost more than all it tests.
 */
export const SUITE_NODES: readonly EffectNodeType[] = [
  suiteNode('vendor.openwop.rust-hello.greet', {
    title: 'Greet',
    summary: 'Greets, in WebAssembly.',
    inputs: ['name'],
    outputs: ['greeting'],
  }),
  suiteNode('vendor.openwop.misbehaving.memory-bomb', {
    title: 'Memory bomb',
    summary: 'Takes all the memory that it can get, in WebAssembly.',
    inputs: [],
    outputs: [],
  }),
];

type SuiteTypeId = Parameters<typeof Packs.suitePack>[0];

interface Described {
  readonly title: string;
  readonly summary: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

function suiteNode(typeId: SuiteTypeId, { title, summary, inputs, outputs }: Described): EffectNodeType {
  let opened: Promise<Packs.WasmPack> | undefined;
  return {
    kind: 'effect',
    typeId,
    title,
    summary,
    conformanceOnly: true,
    config: Type.Object({}, { additionalProperties: false }),
    inputPorts: { named: inputs, required: [], isOpen: false },
    portsFromVariables: true,
    outputPorts: outputs,
    async perform(input, context) {
      opened ??= open(typeId);
      return invoke(await opened, typeId, input, context);
    },
  };
}

async function open(typeId: SuiteTypeId): Promise<Packs.WasmPack> {
  const { createWasmThreads, openWasmPack, suitePack } = await import('@weft/packs');
  return openWasmPack(suitePack(typeId), createWasmThreads(1));
}

async function invoke(
  pack: Packs.WasmPack,
  typeId: string,
  { nodeId, inputs, config }: EffectInput,
  { invocationId, attempt, signal }: EffectContext,
): Promise<NodeResult> {
  const nodeContext = { nodeId, attempt: attempt + 1, configurable: {}, agent: null, config };
  const request = JSON.stringify({ abiVersion: 1, nodeContext, inputs });
  const outcome = await pack.invoke(
    { typeId, request, nowMs: Date.now(), seed: `${invocationId}\n${attempt}` },
    signal,
  );
  if ('outputs' in outcome) {
    const events = outcome.logs.map(([level, message]) => ({
      type: 'log.appended',
      payload: { level, nodeId, message },
    }));
    return { outputs: outcome.outputs, events };
  }
  const { code, message, details } = outcome.error ?? {
    code: 'wasm_suspend_not_implemented',
    message: 'It asks.',
  };
  throw new NodeFailure(code, message, { ...(details !== undefined && { details }) });
}
