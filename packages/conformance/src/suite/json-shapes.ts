import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';

/** Shapes of what a host sends, looked at without trusting it. */

export function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

export function isTextList(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

export function isWhole(value: Json | undefined, least = 0): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least;
}

/** The value when it is an object; an empty one otherwise, so that a missing member is what is noticed. */
export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objectsOf(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
