import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';

/** JSON as a google.protobuf.Struct. */
export function struct(members: JsonObject): object {
  return {
    fields: Object.fromEntries(Object.entries(members).map(([name, value]) => [name, valueOf(value)])),
  };
}

/** JSON as a google.protobuf.Value. */
export function valueOf(json: Json): object {
  if (json === null) return { nullValue: 'NULL_VALUE' };
  if (typeof json === 'number') return { numberValue: json };
  if (typeof json === 'string') return { stringValue: json };
  if (typeof json === 'boolean') return { boolValue: json };
  if (Array.isArray(json)) return { listValue: { values: json.map(valueOf) } };
  return { structValue: struct(json) };
}

/** What a message says, as the JSON document that it mirrors. */
export function documentOf(message: Json): Json {
  if (Array.isArray(message)) return message.map(documentOf);
  if (!isJsonObject(message) || Buffer.isBuffer(message)) return message;
  const members = Object.entries(message);
  if (isJsonObject(message['fields']) && members.length === 1) return ofStruct(message['fields']);
  const [first] = members;
  if (members.length === 1 && first !== undefined && VALUE_KINDS.has(first[0])) return ofValue(message);
  const document: JsonObject = {};
  for (const [name, value] of members) {
    if (name === 'additional_properties') Object.assign(document, documentOf(value));
    else document[JSON_NAMES[name] ?? camelCase(name)] = documentOf(value);
  }
  return document;
}

/** Fields whose json_name is not what protobuf makes of their name. */
const JSON_NAMES: Readonly<Record<string, string>> = {
  duration_ms: 'duration_ms',
  few_shot: 'few-shot',
  schema_hint: 'schema-hint',
};

const VALUE_KINDS = new Set([
  'nullValue',
  'numberValue',
  'stringValue',
  'boolValue',
  'structValue',
  'listValue',
]);

function ofStruct(fields: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, ofValue(value as JsonObject)]),
  );
}

function ofValue(value: JsonObject): Json {
  if ('structValue' in value)
    return ofStruct(((value['structValue'] as JsonObject)['fields'] ?? {}) as JsonObject);
  if ('listValue' in value)
    return (((value['listValue'] as JsonObject)['values'] ?? []) as JsonObject[]).map(ofValue);
  return value['stringValue'] ?? value['numberValue'] ?? value['boolValue'] ?? null;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** Without what a message does not tell apart from nothing: empty lists, and the defaults of scalars. */
export function withoutDefaults(document: unknown): Json {
  const json = document as Json;
  if (Array.isArray(json)) return json.map(withoutDefaults);
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json)
      .map(([name, value]): [string, Json] => [name, withoutDefaults(value)])
      .filter(([, value]) => !isDefault(value)),
  );
}

function isDefault(json: Json): boolean {
  return (
    json === null || json === 0 || json === '' || json === false || (Array.isArray(json) && json.length === 0)
  );
}
