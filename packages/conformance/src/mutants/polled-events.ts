import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { json, type MutantMemory, type ProxiedRequest } from './mutant.ts';

/** Where a run's events are read. */
export const POLL = /^\/v1\/runs\/[^/]+\/events\/poll/;
/** Where a run itself is read. */
export const SNAPSHOT = /^\/v1\/runs\/[^/:?]+$/;
export const CREATE = /^\/v1\/runs$/;

/** What is answered in place of each event: none, one or several. */
export type EventChange = (event: JsonObject, memory: MutantMemory) => readonly JsonObject[];

/** Changes the list of events that a poll answers with. */
export function polledEvents(change: EventChange) {
  return json((body, _request, memory) => {
    if (!isJsonObject(body) || !Array.isArray(body['events'])) return body;
    return { ...body, events: body['events'].filter(isJsonObject).flatMap((event) => change(event, memory)) };
  });
}

/** Events of these types are not there. */
export function without(...types: string[]) {
  return polledEvents((event) => (types.includes(String(event['type'])) ? [] : [event]));
}

/** Changes the payload of every event of a type. */
export function payloadsOf(type: string, change: (payload: JsonObject, memory: MutantMemory) => JsonObject) {
  return polledEvents((event, memory) => {
    const { payload } = event;
    return [
      event['type'] === type && isJsonObject(payload)
        ? { ...event, payload: change(payload, memory) }
        : event,
    ];
  });
}

/** Changes an answer that is an object. */
export function objects(
  change: (body: JsonObject, request: ProxiedRequest, memory: MutantMemory) => JsonObject,
) {
  return json((body, request, memory) => (isJsonObject(body) ? change(body, request, memory) : body));
}

/** An object without some of its members. */
export function omit(object: JsonObject, ...names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Changes a body that is sent; one that is not a JSON object passes. */
export function sent(change: (body: JsonObject, request: ProxiedRequest) => JsonObject) {
  return (request: ProxiedRequest): ProxiedRequest => {
    let body: Json;
    try {
      body = JSON.parse(request.body) as Json;
    } catch {
      return request;
    }
    return isJsonObject(body) ? { ...request, body: JSON.stringify(change(body, request)) } : request;
  };
}

/** Takes every refusal for success. */
export function succeeds(body: JsonObject = {}, from = 400) {
  return <Answer extends { status: number; body: string }>(answer: Answer): Answer =>
    answer.status >= from ? { ...answer, status: 200, body: JSON.stringify(body) } : answer;
}
