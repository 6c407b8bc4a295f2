import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { Mutant, MutantMemory, ProxiedRequest } from './mutant.ts';

/** What mutants do to requests on their way to the host. */
type ChangeRequest = (request: ProxiedRequest) => ProxiedRequest;

/** Changes the body that is sent; one that is not a JSON object passes. */
export function sent(change: (body: JsonObject) => JsonObject): ChangeRequest {
  return (request) => {
    const body = parsed(request.body);
    return isJsonObject(body) ? { ...request, body: JSON.stringify(change(body)) } : request;
  };
}

/** Sends the request to another path. */
export function sentPath(change: (path: string) => string): ChangeRequest {
  return (request) => ({ ...request, path: change(request.path) });
}

/** Sends a header with another value where it is there; `undefined` leaves it out. */
export function sentHeader(name: string, change: (value: string) => string | undefined): ChangeRequest {
  return (request) => {
    const { [name]: value, ...others } = request.headers;
    if (value === undefined) return request;
    const changed = change(value);
    return { ...request, headers: changed === undefined ? others : { ...others, [name]: changed } };
  };
}

export function ignoresHeader(name: string): ChangeRequest {
  return sentHeader(name, () => undefined);
}

/** Sends every request with the key of the first one: every caller is taken for the owner. */
export function ownersKey(request: ProxiedRequest, memory: MutantMemory): ProxiedRequest {
  const { authorization } = request.headers;
  if (!memory.has('key') && authorization !== undefined) memory.set('key', authorization);
  const key = memory.get('key');
  return typeof key === 'string'
    ? { ...request, headers: { ...request.headers, authorization: key } }
    : request;
}

/** Keeps the body of requests that fit, for what the mutant does to a later answer. */
export function remembers(
  name: string,
  fits: (request: ProxiedRequest) => boolean,
): Required<Mutant>['request'] {
  return (request, memory) => {
    if (fits(request)) memory.set(name, request.body);
    return request;
  };
}

export function bodyOf({ body }: { readonly body: string }): JsonObject {
  const value = parsed(body);
  return isJsonObject(value) ? value : {};
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

/** How often this was asked, with this time. */
export function counted(memory: MutantMemory, name: string): number {
  const count = Number(memory.get(name) ?? 0) + 1;
  memory.set(name, count);
  return count;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
