import { Type, type TProperties, type TStringOptions } from 'typebox';
import type { Json, JsonObject } from '../json/json.ts';
import { NAME_FORMAT } from '../json/names.ts';

/** Pieces that many schemas share. "Closed" refuses unknown members, "open" lets them pass. */

export const anyJson = Type.Unsafe<Json>({});
export const jsonObject = Type.Unsafe<JsonObject>({ type: 'object' });
export const nonEmpty = Type.String({ minLength: 1 });
/** An id, name, tag, version, principal, tenant, code or key that a client sends: see names.ts. */
export const name = nameOf({ minLength: 1 });
export const dateTime = Type.String({ format: 'date-time' });
export const uri = Type.String({ format: 'uri' });
export const count = Type.Integer({ minimum: 0 });
export const positive = Type.Integer({ minimum: 1 });
export const runId = nameOf({ minLength: 1, maxLength: 128 });

export function nameOf(options: TStringOptions = {}) {
  return Type.String({ ...options, format: NAME_FORMAT });
}

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

const memberNames = { type: 'string', format: NAME_FORMAT } as const;

/** Free JSON values under names. */
export const namedValues = Type.Unsafe<JsonObject>({ type: 'object', propertyNames: memberNames });

/** An open object that a client sends: what it adds has names, too. */
export function openNamed<Properties extends TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, {
    additionalProperties: true,
    propertyNames: memberNames,
    ...(description === undefined ? {} : { description }),
  });
}

/**
 * A map from names to values of one shape, as `additionalProperties`: a record would become the pattern `^.*$`, which a name with
 * a line break escapes.
 */
export function mapOf<Value>(value: object, description?: string) {
  return Type.Unsafe<Record<string, Value>>({
    type: 'object',
    propertyNames: memberNames,
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
