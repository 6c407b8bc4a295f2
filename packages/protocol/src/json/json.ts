/** A JSON value. `__proto__` is an ordinary key: never assign it with `object[key] = …`, build with `Object.fromEntries`. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
