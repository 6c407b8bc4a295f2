import { type JsonObject, nameOf } from '@weft/protocol';
import { Type } from 'typebox';
import type { InterruptNodeType } from '../../model/node-type.ts';
import { closedConfig, jsonObject, name } from '../config/config-schema.ts';
import { checkSchema } from '../config/schema-in-config.ts';

interface Question {
  readonly id: string;
  readonly schema?: JsonObject;
}

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
  outputPorts: ['output', 'answers'],
  dependsOn: () => [],
  prepare: (config, tools) => {
    const seen = new Set<string>();
    for (const [index, { id, schema }] of (config['questions'] as unknown as Question[]).entries()) {
      if (seen.has(id)) tools.refuse(`/questions/${index}/id`, `The question "${id}" is asked twice.`);
      seen.add(id);
      checkSchema(tools, `/questions/${index}/schema`, schema);
    }
  },
  ask: ({ config }) => {
    const { timeoutMs, ...data } = config;
    return { kind: 'clarification', data, ...(typeof timeoutMs === 'number' && { timeoutMs }) };
  },
};
