import { Type, type TProperties } from 'typebox';
import type { Json, JsonObject } from './json.ts';

/** Pieces that many schemas share. "Closed" refuses unknown members, "open" lets them pass. */

export const anyJson = Type.Unsafe<Json>({});
export const jsonObject = Type.Unsafe<JsonObject>({ type: 'object' });
export const nonEmpty = Type.String({ minLength: 1 });
export const dateTime = Type.String({ format: 'date-time' });
export const uri = Type.String({ format: 'uri' });
export const count = Type.Integer({ minimum: 0 });
export const positive = Type.Integer({ minimum: 1 });
export const runId = Type.String({ minLength: 1, maxLength: 128 });

export function closed<Properties extends TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, {
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
  });
}

export function open<Properties extends TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, {
    additionalProperties: true,
    ...(description === undefined ? {} : { description }),
  });
}

/** A map from any name to values of one shape, as `additionalProperties` (a record would become a pattern). */
export function mapOf<Value>(value: object, description?: string) {
  return Type.Unsafe<Record<string, Value>>({
    type: 'object',
    additionalProperties: value,
    ...(description === undefined ? {} : { description }),
  });
}

/** Who a run belongs to. Opaque ids, never a name or an address. */
export const OwnerSchema = closed({
  tenant: nonEmpty,
  workspace: Type.Optional(nonEmpty),
  principal: Type.Optional(nonEmpty),
});
