import { isJsonObject, type Json, type JsonObject, nameProblem } from '@weft/protocol';
import { Type } from 'typebox';
import type { InterruptKind, InterruptNodeType, PrepareTools } from '../../model/node-type.ts';
import { closedConfig, jsonObject } from '../config/config-schema.ts';
import { checkSchema } from '../config/schema-in-config.ts';

const KINDS = ['external-event', 'custom'] as const;

export const interruptNode: InterruptNodeType = {
  kind: 'interrupt',
  typeId: 'core.interrupt',
  title: 'Interrupt',
  summary:
    'Waits for an event from outside that carries the expected correlation, or for any answer of a custom kind.',
  config: closedConfig({
    kind: Type.Enum(KINDS),
    data: jsonObject,
    resumeSchema: Type.Optional(jsonObject),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  dependsOn: () => [],
  prepare: (config, tools) => {
    checkSchema(tools, '/resumeSchema', config['resumeSchema']);
    const data = config['data'] as JsonObject;
    if (config['kind'] === 'custom') {
      if (typeof data['customKind'] !== 'string')
        tools.refuse('/data/customKind', 'A custom interrupt names its customKind.');
      refuseNoName(data['customKind'], '/data/customKind', tools);
      return;
    }
    if (typeof data['eventType'] !== 'string')
      tools.refuse('/data/eventType', 'Say which eventType is waited for.');
    refuseNoName(data['eventType'], '/data/eventType', tools);
    if (!isJsonObject(data['correlation'])) {
      tools.refuse('/data/correlation', 'Give a correlation: the values by which the event is recognised.');
    }
  },
  ask: ({ config }) => {
    const { kind, data, resumeSchema, timeoutMs } = config;
    return {
      kind: kind as InterruptKind,
      data: data as JsonObject,
      ...(isJsonObject(resumeSchema) && { resumeSchema }),
      ...(typeof timeoutMs === 'number' && { timeoutMs }),
    };
  },
};

function refuseNoName(text: Json | undefined, path: string, tools: PrepareTools): void {
  const problem = typeof text === 'string' ? nameProblem(text) : undefined;
  if (problem !== undefined) tools.refuse(path, `This name ${problem}.`);
}
