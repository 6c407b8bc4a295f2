import { type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { InterruptNodeType } from '../../model/node-type.ts';
import { closedConfig, name } from '../config/config-schema.ts';

const ACTIONS = ['accept', 'reject', 'refine', 'edit-accept', 'ask'] as const;
/** Gates of this profile can be opened with an API key only. */
const AUTH_REQUIRED = 'openwop-interrupt-auth-required';

const optional = Type.Optional;
const names = Type.Array(name, { uniqueItems: true });

export const approvalGateNode: InterruptNodeType = {
  kind: 'interrupt',
  typeId: 'core.approvalGate',
  title: 'Approval gate',
  summary: 'Waits until enough people have approved, or rejects as soon as the policy says so.',
  config: closedConfig({
    title: optional(Type.String()),
    description: optional(Type.String()),
    actions: optional(Type.Array(Type.Enum(ACTIONS), { minItems: 1, uniqueItems: true })),
    artifactId: optional(name),
    artifactType: optional(name),
    artifactData: optional(Type.Unknown()),
    requiredApprovals: optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    rejectionPolicy: optional(Type.Enum(['single-veto', 'majority'])),
    approversList: optional(names),
    profile: optional(nameOf()),
    timeoutMs: optional(Type.Integer({ minimum: 1 })),
  }),
  outputPorts: ['output', 'action', 'comment', 'feedback', 'refineFeedback', 'editedArtifactData', 'voter'],
  dependsOn: () => [],
  prepare: (config, tools) => {
    const list = config['approversList'];
    const required = config['requiredApprovals'];
    if (Array.isArray(list) && list.length > 0 && typeof required === 'number' && required > list.length) {
      tools.refuse(
        '/requiredApprovals',
        `Only ${list.length} people may approve, so ${required} never will.`,
      );
    }
  },
  ask: ({ config, inputs, nodeId }) => {
    const { timeoutMs, profile, title, actions, ...rest } = config;
    const shown = rest['artifactData'] ?? inputs['artifactData'] ?? inputs['input'];
    const data: JsonObject = {
      artifactId: nodeId,
      artifactType: 'approval',
      title: title ?? nodeId,
      actions: actions ?? ['accept', 'reject'],
      ...rest,
      ...(shown !== undefined && { artifactData: shown }),
    };
    return {
      kind: 'approval',
      data,
      ...(typeof timeoutMs === 'number' && { timeoutMs }),
      ...(profile === AUTH_REQUIRED && { authRequired: true }),
    };
  },
};
