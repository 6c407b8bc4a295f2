import { nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { EffectNodeType } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';
import { entryJson, memoryRefConfig, memoryRefOf } from './memory-ref.ts';

export const memoryListNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'weft.memory.list',
  title: 'Memory list',
  summary: 'Outputs the entries of a memory, newest first; an unknown memory has none.',
  config: closedConfig({
    memoryRef: memoryRefConfig,
    limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
    tag: Type.Optional(nameOf({ minLength: 1, maxLength: 256 })),
  }),
  outputPorts: ['output', 'count'],
  dependsOn: () => ['memoryRef'],
  perform: async (input, { memory }) => {
    const { limit, tag } = input.config;
    const entries = await memory.list(memoryRefOf(input), {
      ...(typeof limit === 'number' && { limit }),
      ...(typeof tag === 'string' && { tag }),
    });
    return { outputs: { count: entries.length, output: entries.map(entryJson) } };
  },
};
