import type { Json } from '@weft/protocol';
import { Type } from 'typebox';
import { type NodeInput, NodeFailure, type TimerNodeType } from '../../model/node-type.ts';
import { closedConfig } from '../config/config-schema.ts';

/** 365 days. */
const MAX_DELAY_MS = 31_536_000_000;

const duration = Type.Number({ minimum: 0, maximum: MAX_DELAY_MS });

export const delayNode: TimerNodeType = {
  kind: 'timer',
  typeId: 'core.delay',
  title: 'Delay',
  summary: 'Waits for a number of milliseconds: config.ms, else config.delayMs, else the input port delayMs.',
  config: closedConfig({ ms: Type.Optional(duration), delayMs: Type.Optional(duration) }),
  outputPorts: ['output', 'delayMs'],
  passesOn: true,
  delayMs: resolveDelay,
  finish: (input) => {
    const delayMs = resolveDelay(input);
    const passed = input.inputs.input;
    return { outputs: passed === undefined ? { delayMs } : { delayMs, output: passed } };
  },
};

function resolveDelay({ config, inputs }: NodeInput): number {
  const [field, value] = firstGiven(
    ['config.ms', config.ms],
    ['config.delayMs', config.delayMs],
    ['inputs.delayMs', inputs.delayMs],
  );
  if (value === undefined) {
    throw new NodeFailure(
      'validation_error',
      'The delay is missing: put milliseconds into config.ms or config.delayMs, or give the input port delayMs a value.',
      { details: { field: 'config.ms' } },
    );
  }
  if (typeof value !== 'number' || !(value >= 0 && value <= MAX_DELAY_MS)) {
    throw new NodeFailure(
      'validation_error',
      `${field} must be a number of milliseconds from 0 to ${MAX_DELAY_MS}.`,
      {
        details: { field },
      },
    );
  }
  return Math.round(value);
}

function firstGiven(...candidates: [field: string, value: Json | undefined][]): [string, Json | undefined] {
  return candidates.find(([, value]) => value !== undefined) ?? ['config.ms', undefined];
}
