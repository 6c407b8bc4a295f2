import { nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import { sha256Hex } from '../crypto/hash.ts';
import { type EffectNodeType, NodeFailure } from '../model/node-type.ts';
import { closedConfig } from '../nodes/config/config-schema.ts';

export const secretEchoNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'conformance.secret.echo',
  title: 'Secret echo',
  summary: 'Resolves a secret and tells its SHA-256 and length, never its value.',
  config: closedConfig({ secretId: Type.Optional(nameOf({ minLength: 1, maxLength: 128 })) }),
  outputPorts: ['secretSha256', 'secretLength'],
  conformanceOnly: true,
  perform: async ({ nodeId, config }, { secrets }) => {
    const { secretId } = config;
    if (typeof secretId !== 'string') {
      throw new NodeFailure('validation_error', 'There is no secret to resolve: set config.secretId.', {
        details: { field: 'secretId' },
      });
    }
    const value = await secrets.resolve(secretId);
    const outputs = { secretSha256: sha256Hex(value), secretLength: value.length };
    return { outputs, variables: { [nodeId]: outputs } };
  },
};
