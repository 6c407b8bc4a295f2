import { isJsonObject, type JsonObject } from '@weft/protocol';
import { Type } from 'typebox';
import type { InterruptKind, InterruptNodeType } from '../node-type.ts';
import { closedConfig } from './config-schema.ts';

const KINDS = ['external-event', 'custom'] as const;

export const interruptNode: InterruptNodeType = {
  kind: 'interrupt',
  typeId: 'core.interrupt',
  title: 'Interrupt',
  summary:
    'Waits for an event from outside that carries the expected correlation, or for any answer of a custom kind.',
  config: closedConfig({
    kind: Type.Enum(KINDS),
    data: Type.Record(Type.String(), Type.Unknown()),
    resumeSchema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  prepare: (config, tools) => {
    const data = config['data'] as JsonObject;
    if (config['kind'] === 'custom') {
      if (typeof data['customKind'] !== 'string')
        tools.refuse('/data/customKind', 'A custom interrupt names its customKind.');
      return;
    }
    if (typeof data['eventType'] !== 'string')
      tools.refuse('/data/eventType', 'Say which eventType is waited for.');
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
