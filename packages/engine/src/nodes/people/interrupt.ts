import { type InterruptKind, isJsonObject, type JsonObject, nameProblem } from '@weft/protocol';
import { Type } from 'typebox';
import type { InterruptNodeType, PrepareTools } from '../../model/node-type.ts';
import { closedConfig, jsonObject } from '../config/config-schema.ts';
import { checkSchema } from '../config/schema-in-config.ts';

/** The kinds that a workflow may ask with directly, and what their data must say. */
const KINDS = {
  'external-event': (data, tools) => {
    checkName(data, 'eventType', 'Say which eventType is waited for.', tools);
    if (!isJsonObject(data['correlation'])) {
      tools.refuse('/data/correlation', 'Give a correlation: the values by which the event is recognised.');
    }
  },
  custom: (data, tools) => checkName(data, 'customKind', 'A custom interrupt names its customKind.', tools),
} satisfies { readonly [Kind in InterruptKind]?: (data: JsonObject, tools: PrepareTools) => void };

type Kind = keyof typeof KINDS;

export const interruptNode: InterruptNodeType = {
  kind: 'interrupt',
  typeId: 'core.interrupt',
  title: 'Interrupt',
  summary:
    'Waits for an event from outside that carries the expected correlation, or for any answer of a custom kind.',
  config: closedConfig({
    kind: Type.Enum(Object.keys(KINDS)),
    data: jsonObject,
    resumeSchema: Type.Optional(jsonObject),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  dependsOn: () => [],
  prepare: (config, tools) => {
    checkSchema(tools, '/resumeSchema', config['resumeSchema']);
    KINDS[config['kind'] as Kind](config['data'] as JsonObject, tools);
  },
  ask: ({ config }) => {
    const { kind, data, resumeSchema, timeoutMs } = config;
    return {
      kind: kind as Kind,
      data: data as JsonObject,
      ...(isJsonObject(resumeSchema) && { resumeSchema }),
      ...(typeof timeoutMs === 'number' && { timeoutMs }),
    };
  },
};

function checkName(data: JsonObject, member: string, missing: string, tools: PrepareTools): void {
  const name = data[member];
  if (typeof name !== 'string') return tools.refuse(`/data/${member}`, missing);
  const problem = nameProblem(name);
  if (problem !== undefined) tools.refuse(`/data/${member}`, `This name ${problem}.`);
}
