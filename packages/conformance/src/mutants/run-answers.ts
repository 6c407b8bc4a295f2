import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { json, type Mutant, type MutantMemory, type ProxiedAnswer, type ProxiedRequest } from './mutant.ts';

/** What mutants of runs and logs meddle with most. */

export const CREATE = { method: 'POST', path: /^\/v1\/runs$/ } as const;
export const SNAPSHOT = { method: 'GET', path: /^\/v1\/runs\/[^/:?]+$/ } as const;
export const LOG = { method: 'GET', path: /\/events\/poll/ } as const;
export const CANCEL = { method: 'POST', path: /\/cancel$/ } as const;
export const PAUSE = { method: 'POST', path: /:pause$/ } as const;
export const RESUME = { method: 'POST', path: /:resume$/ } as const;

type Change<Value> = (value: Value, request: ProxiedRequest, memory: MutantMemory) => Value;

/** Changes the events of a poll. */
export function events(change: Change<JsonObject[]>): Required<Mutant>['answer'] {
  return json((body, request, memory) => {
    if (!isJsonObject(body) || !Array.isArray(body['events'])) return body;
    return { ...body, events: change(body['events'].filter(isJsonObject), request, memory) };
  });
}

/** Changes the payloads of events of one type. */
export function payloads(type: string, change: (payload: JsonObject) => Json): Required<Mutant>['answer'] {
  return events((all) =>
    all.map((event) =>
      event['type'] === type && isJsonObject(event['payload'])
        ? { ...event, payload: change(event['payload']) }
        : event,
    ),
  );
}

/** Changes an answer that is about a run; errors pass. */
export function run(change: Change<JsonObject>): Required<Mutant>['answer'] {
  return json((body, request, memory) =>
    isJsonObject(body) && typeof body['runId'] === 'string' ? change(body, request, memory) : body,
  );
}

/** Changes the body of a request on its way to the host. */
export function sent(change: (body: JsonObject) => JsonObject): Required<Mutant>['request'] {
  return (request) => ({ ...request, body: JSON.stringify(change(bodyOf(request))) });
}

export function bodyOf({ body }: ProxiedRequest): JsonObject {
  try {
    const parsed = JSON.parse(body) as Json;
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** A request without one of its headers. */
export function without(header: string): Required<Mutant>['request'] {
  return (request) => ({
    ...request,
    headers: Object.fromEntries(Object.entries(request.headers).filter(([name]) => name !== header)),
  });
}

export function omit(from: JsonObject, ...names: string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
}

export function replyWith(status: number, body: Json): ProxiedAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

export function refusal(status: number, error: string): ProxiedAnswer {
  return replyWith(status, { error, message: 'No.' });
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

/** Numbers the events again, for defects that are about order alone. */
export function numbered(list: readonly JsonObject[]): JsonObject[] {
  return list.map((event, sequence) => ({ ...event, sequence }));
}

/** The run that a request is about. */
export function runOf({ path }: ProxiedRequest): string {
  return /^\/v1\/runs\/([^/:?]+)/.exec(path)?.[1] ?? '';
}

/** Whether this is another run than the first one that was seen. */
export function isAnotherRun(request: ProxiedRequest, memory: MutantMemory): boolean {
  const runId = runOf(request);
  if (!memory.has('first-run')) memory.set('first-run', runId);
  return memory.get('first-run') !== runId;
}
