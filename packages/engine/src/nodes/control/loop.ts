import { Type } from 'typebox';
import type { LoopNodeType } from '../../model/node-type.ts';
import { closedConfig, name } from '../config/config-schema.ts';

export const loopNode: LoopNodeType = {
  kind: 'loop',
  typeId: 'core.loop',
  title: 'Loop',
  summary: 'Runs the nodes of config.body once per item of config.items, or while config.while holds.',
  config: closedConfig({
    /** Ids of the nodes inside the loop; exactly one of them has no edge from another. */
    body: Type.Array(name, { minItems: 1, uniqueItems: true }),
    /** The list to go through: as it is, or as CEL that gives one; evaluated once, when the loop starts. */
    items: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.String({ minLength: 1 })])),
    /** CEL that gives true or false; evaluated before each iteration. */
    while: Type.Optional(Type.String({ minLength: 1 })),
    maxIterations: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  }),
  outputPorts: ['output'],
  prepare: (config, tools) => {
    if (config.items === undefined && config.while === undefined) {
      tools.refuse(
        '',
        'A loop needs either "items" (a list to go through) or "while" (a condition to repeat on).',
      );
    }
    if (config.items !== undefined && config.while !== undefined) {
      tools.refuse('/while', 'A loop has either "items" or "while", not both; remove one.');
    }
  },
};
