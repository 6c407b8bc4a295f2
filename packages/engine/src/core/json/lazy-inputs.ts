import type { JsonObject } from '@weft/protocol';
import { parseCooperatively, splitMember } from './large-json.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { CooperativeTask } from './cooperative-task.ts';

/**
 * Inputs of a run may be large, and few readers of its record need them. A store hands out records whose large inputs
 * are still text; they are read when they are asked for, or beforehand in steps.
 */
const UNREAD = new WeakMap<CreationRecord, string>();

/** Shorter ones are read at once. */
const LARGE = 16 * 1024;

type WithoutInputs = Omit<CreationRecord, 'inputs'>;

/**
 * A record from its text as JSON, in which `inputs` may stand anywhere; `build` adds what is kept elsewhere to the members that
 * it is given.
 */
export function recordFromText(
  text: string,
  build: (members: Partial<CreationRecord>) => CreationRecord,
): CreationRecord {
  const split = text.length > LARGE ? splitMember(text, 'inputs') : undefined;
  if (split === undefined) return build(JSON.parse(text) as Partial<CreationRecord>);
  return withLazyInputs(build(JSON.parse(split.rest) as Partial<CreationRecord>), split.value);
}

function withLazyInputs(record: WithoutInputs, text: string): CreationRecord {
  const lazy = Object.defineProperty(record, 'inputs', {
    get: () => settle(lazy, JSON.parse(text) as JsonObject),
    enumerable: true,
    configurable: true,
  }) as CreationRecord;
  UNREAD.set(lazy, text);
  return lazy;
}

function settle(record: CreationRecord, inputs: JsonObject): JsonObject {
  Object.defineProperty(record, 'inputs', {
    value: inputs,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  UNREAD.delete(record);
  return inputs;
}

/** Reads inputs that are still text, so that asking for them takes no time. */
export function* readInputs(record: CreationRecord): CooperativeTask<void> {
  const text = UNREAD.get(record);
  if (text !== undefined) settle(record, (yield* parseCooperatively(text)) as JsonObject);
}
