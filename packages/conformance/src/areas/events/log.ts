import { isJsonObject, type JsonObject } from '@weft/protocol';
import type { CheckContext } from '../../suite/check.ts';

/** Logs as checks look at them. Nothing here trusts an event to have the members or types it should. */

export const TERMINAL_EVENTS = ['run.completed', 'run.failed', 'run.cancelled'];

export function ofType(events: readonly JsonObject[], ...types: string[]): JsonObject[] {
  return events.filter(({ type }) => types.includes(String(type)));
}

/** The payload, or an empty one where it is no object. */
export function payloadOf(event: JsonObject | undefined): JsonObject {
  const payload = event?.['payload'];
  return isJsonObject(payload) ? payload : {};
}

/** The error inside a payload or snapshot, or an empty one where it is no object. */
export function errorOf(holder: JsonObject): JsonObject {
  const { error } = holder;
  return isJsonObject(error) ? error : {};
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

/** One look at the log of a run that may still be running; it does not wait for more. */
export async function eventsSoFar({ host, expect }: CheckContext, runId: string): Promise<JsonObject[]> {
  const answer = await host.request('GET', `/v1/runs/${runId}/events/poll?timeout=1`);
  expect.status(answer, 200);
  const body = expect.object(answer.json, 'a poll is answered with an object');
  return expect
    .array(body['events'], 'a poll answers with the list events')
    .map((event) => expect.object(event, 'an event is an object'));
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
