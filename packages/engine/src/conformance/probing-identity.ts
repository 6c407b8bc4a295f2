import type { JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import type { NodeType, PureNodeType, VariantPlace } from '../model/node-type.ts';
import { agentTurn } from './agent-script.ts';
import { agentIdOf } from '../nodes/people/confidence.ts';
import { closedConfig } from '../nodes/config/config-schema.ts';
import { identityNode } from '../nodes/control/identity.ts';
import { memoryProbe } from './memory-probe.ts';
import { isSuiteWorkflow } from './suite-workflows.ts';

/** The protocol's early test workflows have `core.identity` play an agent, switched by its config. */
export const probingIdentityNode: PureNodeType = { ...identityNode, variant: probeFor };

function probeFor(config: JsonObject, { workflowId }: VariantPlace): NodeType | undefined {
  if (!isSuiteWorkflow(workflowId)) return undefined;
  if (config['memoryAction'] !== undefined) return memoryProbe;
  if (config['emitDuplicateMessageId'] !== undefined) return duplicateMessage;
  if (config['emitReasoningTrace'] !== undefined || config['mockConfidence'] !== undefined) return playAgent;
  return undefined;
}

const probe = { kind: 'pure', typeId: 'core.identity', title: 'Probe', conformanceOnly: true } as const;

const playAgent: PureNodeType = {
  ...probe,
  summary: 'Tells of an agent’s turn.',
  config: closedConfig({
    emitReasoningTrace: Type.Optional(Type.Boolean()),
    mockConfidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  }),
  run: (input) => {
    const { mockConfidence, emitReasoningTrace } = input.config;
    const isTraced = emitReasoningTrace === true;
    return agentTurn(
      input,
      {
        agentId: agentIdOf(input, 'identity'),
        ...(isTraced && {
          reasoning: { text: 'Considered the inputs and looked one of them up.' },
          toolCalls: [{ toolName: 'conformance:lookup', inputs: { key: 'answer' }, outcome: { value: 42 } }],
        }),
        decision: {
          decision: { kind: 'echo' },
          ...(typeof mockConfidence === 'number' && { confidence: mockConfidence }),
        },
      },
      input.inputs,
    );
  },
  answered: (input) => ({ outputs: input.inputs }),
};

const duplicateMessage: PureNodeType = {
  ...probe,
  summary: 'Sends one message twice.',
  config: closedConfig({ emitDuplicateMessageId: Type.Boolean() }),
  prepare: (_config, tools) => {
    const found = [...tools.channels].find(([, { reducer }]) => reducer === 'message');
    return found?.[0] ?? tools.refuse('', 'The workflow declares no channel with the reducer "message".');
  },
  run: ({ nodeId, prepared, inputs }) => {
    const channel = String(prepared);
    const message = (id: number) => ({
      channel,
      value: {
        messageId: `${nodeId}:${id}`,
        role: 'assistant',
        content: `Message ${id}.`,
        timestamp: '1970-01-01T00:00:00.000Z',
      },
    });
    return { outputs: inputs, channels: [message(0), message(1), message(0)] };
  },
};
