import type { Json } from '@weft/protocol';
import { Type } from 'typebox';
import { REDUCERS, type Reducer } from '../core/reducers.ts';
import { NodeFailure, type PureNodeType } from '../node-type.ts';
import { closedConfig } from './config-schema.ts';

export const channelWriteNode: PureNodeType = {
  kind: 'pure',
  typeId: 'core.channelWrite',
  title: 'Channel write',
  summary: 'Writes a value to a channel; the channel’s reducer says what that does to what it holds.',
  config: closedConfig({
    channelName: Type.String({ minLength: 1, maxLength: 256 }),
    /** For channels that the workflow does not declare. */
    reducer: Type.Optional(Type.Enum(REDUCERS)),
    ttlMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
    maxSize: Type.Optional(Type.Integer({ minimum: 1 })),
    value: Type.Optional(Type.Unknown()),
  }),
  run: ({ config, inputs }) => {
    const value: Json | undefined = inputs['value'] ?? config['value'] ?? inputs['input'];
    if (value === undefined) {
      throw new NodeFailure(
        'validation_error',
        'There is nothing to write: give config.value, or connect port "value".',
      );
    }
    const { channelName, reducer, ttlMs, maxSize } = config;
    const write = {
      channel: String(channelName),
      value,
      ...(typeof reducer === 'string' && { reducer: reducer as Reducer }),
      ...(typeof ttlMs === 'number' && { ttlMs }),
      ...(typeof maxSize === 'number' && { maxSize }),
    };
    return { outputs: { output: value }, channels: [write] };
  },
};
