import type { Command } from './command.ts';
import type { CreationRecord } from './run-state.ts';
import { MASK } from '../core/redaction/scan/marks.ts';

/**
 * A creation record without what someone gave: inputs, and values in place of masked ones. The names of inputs stay, so that a
 * snapshot still shows that they were there.
 */
export function erasedRecord({ sensitiveInputs: _sensitive, ...record }: CreationRecord): CreationRecord {
  const inputs = Object.fromEntries(Object.keys(record.inputs).map((name) => [name, MASK]));
  if (record.fork === undefined) return { ...record, inputs };
  const { filled: _filled, ...fork } = record.fork;
  return { ...record, inputs, fork };
}

/** Of answers and of what children sent, only that there were some. */
export function erasedCommand(command: Command): Command {
  if (command.type === 'resolve' || command.type === 'channel') return { ...command, value: null };
  if (command.type !== 'child') return command;
  const { outputs: _outputs, variables: _variables, ...signal } = command;
  return signal;
}
