import { NodeFailure, type NodeInput, type TimerNodeType } from '../model/node-type.ts';
import { noConfig } from '../nodes/config/config-schema.ts';

/** For tests of replays: waits, touches nothing, and puts out what it was given. */
export const holdNode: TimerNodeType = {
  kind: 'timer',
  typeId: 'core.conformance.hold',
  title: 'Hold',
  summary: 'Waits for as many milliseconds as its input port delayMs says, then puts out its inputs.',
  conformanceOnly: true,
  config: noConfig,
  outputPorts: ({ inputs }) => [...inputs],
  passesOn: true,
  delayMs,
  finish: ({ inputs }) => ({ outputs: inputs }),
};

function delayMs({ inputs }: NodeInput): number {
  const { delayMs: given } = inputs;
  if (typeof given === 'number' && given >= 0 && given <= 31_536_000_000) return Math.round(given);
  throw new NodeFailure('validation_error', 'The input port delayMs must be a number of milliseconds.', {
    details: { field: 'inputs.delayMs' },
  });
}
