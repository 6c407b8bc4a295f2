import { nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { InterruptNodeType } from '../node-type.ts';
import { closedConfig, jsonObject, name } from './config-schema.ts';

export const clarificationGateNode: InterruptNodeType = {
  kind: 'interrupt',
  typeId: 'core.clarificationGate',
  title: 'Clarification gate',
  summary: 'Asks questions and waits until every one of them is answered.',
  config: closedConfig({
    questions: Type.Array(
      Type.Object(
        {
          id: name,
          question: Type.String({ minLength: 1 }),
          schema: Type.Optional(jsonObject),
        },
        { additionalProperties: false },
      ),
      { minItems: 1 },
    ),
    contextType: Type.Optional(nameOf()),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  prepare: (config, tools) => {
    const ids = (config['questions'] as { id: string }[]).map(({ id }) => id);
    const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index);
    if (twice !== -1) tools.refuse(`/questions/${twice}/id`, `The question "${ids[twice]}" is asked twice.`);
  },
  ask: ({ config }) => {
    const { timeoutMs, ...data } = config;
    return { kind: 'clarification', data, ...(typeof timeoutMs === 'number' && { timeoutMs }) };
  },
};
