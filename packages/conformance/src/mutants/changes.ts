import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { MutantMemory, ProxiedRequest } from './mutant.ts';

/** Sends the request to another path. */
export function path(change: (path: string) => string) {
  return (request: ProxiedRequest): ProxiedRequest => ({ ...request, path: change(request.path) });
}

/** Sends a header with another value, where it is there; nothing leaves it out. */
export function header(name: string, change: (value: string) => string | undefined) {
  return (request: ProxiedRequest): ProxiedRequest => {
    const { [name]: value, ...others } = request.headers;
    if (value === undefined) return request;
    const changed = change(value);
    return { ...request, headers: changed === undefined ? others : { ...others, [name]: changed } };
  };
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

/** Sends another body. */
export function body(change: (asked: JsonObject) => JsonObject) {
  return (request: ProxiedRequest): ProxiedRequest => {
    const asked = JSON.parse(request.body) as Json;
    return isJsonObject(asked) ? { ...request, body: JSON.stringify(change(asked)) } : request;
  };
}

/** Leaves members out. */
export function without(...names: readonly string[]) {
  return (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
