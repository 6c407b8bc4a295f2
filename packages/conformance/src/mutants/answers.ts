import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { objectOf, objectsOf } from '../suite/json-shapes.ts';
import type { Mutant, MutantMemory, ProxiedAnswer, ProxiedRequest } from './mutant.ts';

/** What mutants do to answers on their way back. */
type ChangeAnswer = Required<Mutant>['answer'];
type Change<Value, Changed = Value> = (
  value: Value,
  request: ProxiedRequest,
  memory: MutantMemory,
) => Changed;

/** Changes an answer that is a JSON object; any other passes. */
export function answered(change: Change<JsonObject, Json>): ChangeAnswer {
  return (answer, request, memory) => {
    let body: Json;
    try {
      body = JSON.parse(answer.body) as Json;
    } catch {
      return answer;
    }
    return isJsonObject(body) ? { ...answer, body: JSON.stringify(change(body, request, memory)) } : answer;
  };
}

/** Changes an answer that has a member by which it is known; any other passes. */
export function answeredWith(member: string, change: Change<JsonObject, Json>): ChangeAnswer {
  return answered((body, request, memory) => (member in body ? change(body, request, memory) : body));
}

export function replaces(member: string, value: Json): ChangeAnswer {
  return answered((body) => ({ ...body, [member]: value }));
}

/** Changes an answer that is about a run; errors pass. */
export function run(change: Change<JsonObject>): ChangeAnswer {
  return answeredWith('runId', change);
}

/** Changes the variables of a run. */
export function variables(change: (variables: JsonObject) => JsonObject): ChangeAnswer {
  return run((snapshot) => ({ ...snapshot, variables: change(objectOf(snapshot['variables'])) }));
}

/** Changes the error of an answer that is one. */
export function refusals(change: Change<JsonObject>): ChangeAnswer {
  return answered((body, request, memory) =>
    typeof body['error'] === 'string' ? change(body, request, memory) : body,
  );
}

/** Changes the events of a poll. */
export function events(change: Change<JsonObject[]>): ChangeAnswer {
  return answered((body, request, memory) =>
    Array.isArray(body['events'])
      ? { ...body, events: change(objectsOf(body['events']), request, memory) }
      : body,
  );
}

/** Changes every event of a poll: into another one, into several, or into none. */
export function eachEvent(
  change: (event: JsonObject, memory: MutantMemory) => JsonObject | readonly JsonObject[],
): ChangeAnswer {
  return events((all, _request, memory) => all.flatMap((event) => change(event, memory)));
}

/** Events of these types are not there. */
export function withoutEvents(...types: string[]): ChangeAnswer {
  return eachEvent((event) => (types.includes(String(event['type'])) ? [] : event));
}

/** Events that fit are there twice. */
export function repeatedEvents(fits: (event: JsonObject) => boolean): ChangeAnswer {
  return eachEvent((event) => (fits(event) ? [event, event] : event));
}

/** Changes the payloads of events of one type. */
export function payloads(
  type: string,
  change: (payload: JsonObject, memory: MutantMemory) => Json,
): ChangeAnswer {
  return eachEvent((event, memory) =>
    event['type'] === type && isJsonObject(event['payload'])
      ? { ...event, payload: change(event['payload'], memory) }
      : event,
  );
}

/** Numbers the events again, for defects that are about order alone. */
export function numbered(list: readonly JsonObject[]): JsonObject[] {
  return list.map((event, sequence) => ({ ...event, sequence }));
}

/** Two members of a list in each other's place. */
export function swapped<Item>(list: readonly Item[], one: number, other: number): Item[] {
  const copy = [...list];
  const [first, second] = [copy[one], copy[other]];
  if (first !== undefined && second !== undefined) {
    copy[one] = second;
    copy[other] = first;
  }
  return copy;
}

/** Changes the status where it is this one. */
export function status(from: number, to: number): ChangeAnswer {
  return (answer) => (answer.status === from ? { ...answer, status: to } : answer);
}

/** Takes every refusal for success. */
export function succeeds(body: JsonObject = {}, from = 400): ChangeAnswer {
  return (answer) =>
    answer.status >= from ? { ...answer, status: 200, body: JSON.stringify(body) } : answer;
}

export function answeredHeader(name: string, value: string): ChangeAnswer {
  return (answer) => withHeader(answer, name, value);
}

export function withHeader(answer: ProxiedAnswer, name: string, value: string): ProxiedAnswer {
  return { ...answer, headers: { ...answer.headers, [name]: value } };
}

export function dropsHeader(name: string): ChangeAnswer {
  return (answer) => ({ ...answer, headers: omit(answer.headers, name) });
}

export function replyWith(code: number, body: Json): ProxiedAnswer {
  return { status: code, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

export function refusal(code: number, error: string): ProxiedAnswer {
  return replyWith(code, { error, message: 'No.' });
}

/** An object without some of its members. */
export function omit<Value>(
  from: Readonly<Record<string, Value>>,
  ...names: string[]
): Record<string, Value> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
}

/** Changes one block of discovery, at the root and in its mirror. */
export function block(family: string, change: (block: JsonObject) => JsonObject): ChangeAnswer {
  const changed = (from: JsonObject): JsonObject => {
    const found = from[family];
    return isJsonObject(found) ? { ...from, [family]: change(found) } : from;
  };
  return answered((body) => {
    const { capabilities } = body;
    return changed(isJsonObject(capabilities) ? { ...body, capabilities: changed(capabilities) } : body);
  });
}
