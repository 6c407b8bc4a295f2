import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { json, type ProxiedAnswer, type ProxiedRequest } from './mutant.ts';

/** Small changes that several mutants are made of. */

export function without<Value>(from: Readonly<Record<string, Value>>, name: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => key !== name));
}

export function withHeader(answer: ProxiedAnswer, name: string, value: string): ProxiedAnswer {
  return { ...answer, headers: { ...answer.headers, [name]: value } };
}

export function dropsHeader(name: string) {
  return (answer: ProxiedAnswer): ProxiedAnswer => ({ ...answer, headers: without(answer.headers, name) });
}

export function ignoresHeader(name: string) {
  return (request: ProxiedRequest): ProxiedRequest => ({
    ...request,
    headers: without(request.headers, name),
  });
}

/** Changes an answer that is a JSON object. */
export function changes(change: (body: JsonObject) => Json) {
  return json((body) => (isJsonObject(body) ? change(body) : body));
}

export function replaces(member: string, value: Json) {
  return changes((body) => ({ ...body, [member]: value }));
}

/** Changes every event of a poll. */
export function polledEvents(change: (event: JsonObject, index: number) => Json) {
  return changes((body) => {
    const { events } = body;
    if (!Array.isArray(events)) return body;
    return {
      ...body,
      events: events.map((event, index) => (isJsonObject(event) ? change(event, index) : event)),
    };
  });
}
