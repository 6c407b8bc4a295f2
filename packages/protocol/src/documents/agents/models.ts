import { type Static, Type } from 'typebox';
import { closed, name, nonEmpty, open } from '../schema-parts.ts';

const optional = Type.Optional;
const count = Type.Integer({ minimum: 0 });

const ModelProviderSchema = open({
  name: nonEmpty,
  kind: nonEmpty,
  baseUrl: optional(Type.String({ description: 'For the operator’s tenant.' })),
  takesCredentials: Type.Boolean({
    description: 'Runs may bring a credential of their tenant: configurable["ai.credentialRef"].',
  }),
  policy: open({
    mode: Type.Enum(['disabled', 'optional', 'required', 'restricted']),
    allowedModels: optional(Type.Array(nonEmpty)),
  }),
});

export const ModelListSchema = open({
  default: optional(Type.String({ description: 'Asked where a node and its run name none.' })),
  fallback: Type.Array(nonEmpty, { description: 'Asked in this order when another one fails.' }),
  providers: Type.Array(ModelProviderSchema),
});

export const TestModelSchema = closed({
  model: optional(name),
});

export const ModelTestSchema = open({
  provider: optional(nonEmpty),
  model: optional(nonEmpty),
  usage: optional(open({ promptTokens: count, completionTokens: count, totalTokens: count })),
  error: optional(closed({ code: nonEmpty, message: nonEmpty }, 'Why it did not answer.')),
  tookMs: count,
});

export type ModelListDocument = Static<typeof ModelListSchema>;
export type ModelTest = Static<typeof ModelTestSchema>;
