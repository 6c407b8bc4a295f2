import { type Json, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import { REDUCERS, type Reducer } from '../../core/channels/reducers.ts';
import { NodeFailure, type PureNodeType } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';

export const channelWriteNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.channelWrite',
  title: 'Channel write',
  summary: 'Writes a value to a channel; the channel’s reducer says what that does to what it holds.',
  config: closedConfig({
    channelName: nameOf({ minLength: 1, maxLength: 256 }),
    /** For channels that the workflow does not declare. */
    reducer: Type.Optional(Type.Enum(REDUCERS)),
    ttlMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
    maxSize: Type.Optional(Type.Integer({ minimum: 1 })),
    value: Type.Optional(Type.Unknown()),
    /** The channel is one that the workflow declares which started this run. */
    to: Type.Optional(Type.Enum(['parent'])),
  }),
  outputPorts: ['output'],
  dependsOn: ({ value }) => (value === undefined ? ['value', 'input'] : ['value']),
  prepare: (config, tools) => {
    if (config['to'] !== 'parent') return;
    for (const key of ['reducer', 'ttlMs', 'maxSize']) {
      if (config[key] !== undefined)
        tools.refuse(`/${key}`, `The parent's declaration of the channel says this; leave ${key} out.`);
    }
  },
  run: ({ config, inputs }) => {
    const value: Json | undefined = inputs['value'] ?? config['value'] ?? inputs['input'];
    if (value === undefined) {
      throw new NodeFailure(
        'validation_error',
        'There is nothing to write: give config.value, or connect port "value".',
      );
    }
    const { channelName, reducer, ttlMs, maxSize, to } = config;
    const write = {
      channel: String(channelName),
      value,
      ...(to === 'parent' && { to: 'parent' as const }),
      ...(typeof reducer === 'string' && { reducer: reducer as Reducer }),
      ...(typeof ttlMs === 'number' && { ttlMs }),
      ...(typeof maxSize === 'number' && { maxSize }),
    };
    return { outputs: { output: value }, channels: [write] };
  },
};
