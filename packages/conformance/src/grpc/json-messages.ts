import { isJsonObject, type Json, type JsonObject, protoDocument } from '@weft/protocol';
import protobuf from 'protobufjs';

/** The messages of the published .proto, read and written as the JSON documents that they mirror. */
export interface JsonMessages {
  /** The bytes of a message; members without a field are left out, as a client's library would. */
  encode(message: string, document: JsonObject): Buffer;
  decode(message: string, bytes: Uint8Array): JsonObject;
  /** Of a method: what it takes and gives. */
  method(name: string): { readonly request: string; readonly response: string };
}

const WELL_KNOWN = ['google/protobuf/struct.proto', 'google/protobuf/empty.proto'];
const STRUCT = '.google.protobuf.Struct';
const VALUE = '.google.protobuf.Value';
const EXTRAS = 'additionalProperties';

let known: JsonMessages | undefined;

export function jsonMessages(): JsonMessages {
  known ??= createMessages();
  return known;
}

function createMessages(): JsonMessages {
  const { root } = protobuf.parse(protoDocument());
  for (const file of WELL_KNOWN) root.addJSON(protobuf.common.get(file)?.nested ?? {});
  root.resolveAll();
  const service = root.lookupService('openwop.v1.Engine');
  return {
    encode(message, document) {
      const type = root.lookupType(message);
      return Buffer.from(type.encode(type.fromObject(toMessage(type, document))).finish());
    },
    decode(message, bytes) {
      const type = root.lookupType(message);
      return toDocument(type, type.toObject(type.decode(bytes), { longs: Number }));
    },
    method(name) {
      const { resolvedRequestType, resolvedResponseType } = service.methods[name] ?? {};
      return {
        request: resolvedRequestType?.fullName ?? '',
        response: resolvedResponseType?.fullName ?? '',
      };
    },
  };
}

function toMessage(type: protobuf.Type, document: JsonObject): object {
  const members = Object.entries(document).flatMap(([name, value]) => {
    const field = type.fields[name];
    return field === undefined ? [] : [[name, fieldValue(field, value)] as const];
  });
  return Object.fromEntries(members);
}

function fieldValue(field: protobuf.Field, value: Json): unknown {
  if (field.repeated && Array.isArray(value)) return value.map((item) => oneValue(field, item));
  return oneValue(field, value);
}

function oneValue({ resolvedType }: protobuf.Field, value: Json): unknown {
  if (!(resolvedType instanceof protobuf.Type)) return value;
  if (resolvedType.fullName === VALUE) return valueOf(value);
  if (!isJsonObject(value)) return undefined;
  return resolvedType.fullName === STRUCT ? structOf(value) : toMessage(resolvedType, value);
}

function structOf(members: JsonObject): object {
  return {
    fields: Object.fromEntries(Object.entries(members).map(([name, value]) => [name, valueOf(value)])),
  };
}

function valueOf(json: Json): object {
  if (json === null) return { nullValue: 0 };
  if (Array.isArray(json)) return { listValue: { values: json.map(valueOf) } };
  if (typeof json === 'object') return { structValue: structOf(json) };
  if (typeof json === 'string') return { stringValue: json };
  return typeof json === 'number' ? { numberValue: json } : { boolValue: json };
}

function toDocument(type: protobuf.Type, message: JsonObject): JsonObject {
  const document: JsonObject = {};
  for (const [name, value] of Object.entries(message)) {
    const field = type.fields[name];
    if (field === undefined) continue;
    if (name === EXTRAS) Object.assign(document, memberOf(field, value));
    else
      document[name] =
        field.repeated && Array.isArray(value)
          ? value.map((item) => memberOf(field, item))
          : memberOf(field, value);
  }
  return document;
}

function memberOf({ resolvedType }: protobuf.Field, value: Json): Json {
  if (!(resolvedType instanceof protobuf.Type) || !isJsonObject(value)) return value;
  if (resolvedType.fullName === STRUCT) return membersOf(value);
  return resolvedType.fullName === VALUE ? jsonOf(value) : toDocument(resolvedType, value);
}

function membersOf({ fields }: JsonObject): JsonObject {
  const members = isJsonObject(fields) ? fields : {};
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, jsonOf(value as JsonObject)]),
  );
}

function jsonOf({ structValue, listValue, ...plain }: JsonObject): Json {
  if (isJsonObject(structValue)) return membersOf(structValue);
  if (isJsonObject(listValue)) return ((listValue['values'] ?? []) as JsonObject[]).map(jsonOf);
  return plain['stringValue'] ?? plain['numberValue'] ?? plain['boolValue'] ?? null;
}
