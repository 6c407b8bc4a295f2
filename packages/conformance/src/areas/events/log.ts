import type { Json, JsonObject } from '@weft/protocol';
import type { CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

/** Logs as checks look at them. Nothing here trusts an event to have the members or types it should. */

export const TERMINAL_EVENTS: readonly string[] = ['run.completed', 'run.failed', 'run.cancelled'];

export function ofType(events: readonly JsonObject[], ...types: string[]): JsonObject[] {
  return events.filter(({ type }) => types.includes(String(type)));
}

export function payloadOf(event: JsonObject | undefined): JsonObject {
  return objectOf(event?.['payload']);
}

/** The error inside a payload or snapshot. */
export function errorOf(holder: JsonObject): JsonObject {
  return objectOf(holder['error']);
}

export function sequenceOf({ sequence }: JsonObject): number {
  return typeof sequence === 'number' ? sequence : Number.NaN;
}

/** Events of one node, in the order of the log. */
export function ofNode(events: readonly JsonObject[], nodeId: string): JsonObject[] {
  return events.filter((event) => event['nodeId'] === nodeId);
}

/** What a log looks like in a message: `node.started a, node.completed a`. */
export function outline(events: readonly JsonObject[]): string {
  const shown = events.map(({ type, nodeId }) =>
    nodeId === undefined ? String(type) : `${String(type)} ${String(nodeId)}`,
  );
  return shown.length === 0 ? 'no events' : shown.join(', ');
}

export function typesOf(documents: readonly JsonObject[]): string[] {
  return documents.map(({ type }) => String(type));
}

export function sequencesOf(documents: readonly JsonObject[]): Json[] {
  return documents.map(({ sequence }) => sequence ?? null);
}

/** What makes an event the same event wherever it is read. */
export function coreOf({
  eventId,
  runId,
  type,
  payload,
  timestamp,
  sequence,
  nodeId,
}: JsonObject): JsonObject {
  return {
    eventId: eventId ?? null,
    runId: runId ?? null,
    type: type ?? null,
    payload: payload ?? null,
    timestamp: timestamp ?? null,
    sequence: sequence ?? null,
    nodeId: nodeId ?? null,
  };
}

/** Sequences that only ever rise. */
export function isRising(values: readonly (Json | undefined)[]): boolean {
  return values.every((value, index) => {
    const before = index === 0 ? -1 : values[index - 1];
    return typeof value === 'number' && typeof before === 'number' && value > before;
  });
}

/** The rules that hold for the log of every run that has ended. */
export function expectEndedLog({ expect }: CheckContext, events: readonly JsonObject[]): void {
  const sequences = events.map(({ sequence }) => sequence ?? 'nothing');
  expect.equal(
    sequences,
    events.map((_, index) => index),
    'the sequences of the log begin at 0 and grow by one',
  );
  const types = events.map(({ type }) => String(type));
  const terminal = types.filter((type) => TERMINAL_EVENTS.includes(type));
  expect.that(terminal.length === 1, 'a run that has ended has exactly one terminal event', outline(events));
  expect.that(
    TERMINAL_EVENTS.includes(types.at(-1) ?? ''),
    'the terminal event is the last of the log',
    outline(events),
  );
}
