import type { TSchema } from 'typebox';
import { createBundle } from '../emit/bundle.ts';
import { componentName, NAMED_SCHEMAS } from '../emit/named-schemas.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { pathParameters } from '../routes/endpoints.ts';
import { PATH_PARAMETERS } from '../routes/path-parameters.ts';
import { type Route, route } from '../routes/routes.ts';
import { FIELD_NUMBERS } from './field-numbers.ts';
import { GRPC_METHODS, type GrpcMethod, methodName, type RequestField } from './methods.ts';

/**
 * The messages of the gRPC service, made from the schemas of the HTTP documents. Each member of a schema is a field; its number
 * stands in FIELD_NUMBERS, and a member without one is an error, so that no member is lost on the way.
 */

export type FieldKind =
  | 'string'
  | 'bytes'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'double'
  /** google.protobuf.Struct: an object whose members have no schema of their own. */
  | 'struct'
  /** google.protobuf.Value: anything. */
  | 'value'
  | 'message';

interface FieldType {
  readonly kind: FieldKind;
  /** Of a field that holds a message. */
  readonly message?: string;
  readonly isRepeated: boolean;
}

export interface FieldShape extends FieldType {
  /** In the .proto. */
  readonly name: string;
  /** In the JSON document, or the name of the parameter. */
  readonly jsonName: string;
  readonly number: number;
  /** Whether a reader can tell that it was not set: where it may be absent, or null. */
  readonly isOptional: boolean;
  readonly oneof?: string;
  readonly description?: string;
  /** In requests: where HTTP has it. */
  readonly place?: RequestField['place'];
}

export interface MessageShape {
  readonly name: string;
  readonly fields: readonly FieldShape[];
  /** Holds the members that the schema does not list. Absent where there can be none. */
  readonly extras?: FieldShape;
  /** Numbers and names of fields that are gone. */
  readonly reserved: readonly (readonly [name: string, number: number])[];
}

export interface MethodShape {
  readonly name: string;
  readonly method: GrpcMethod;
  readonly route: Route;
  readonly request: MessageShape;
  /** Undefined: google.protobuf.Empty. */
  readonly response: MessageShape | undefined;
}

export interface ServiceShape {
  readonly methods: readonly MethodShape[];
  /** All messages, the requests and answers in the order of the methods, each followed by what it holds. */
  readonly messages: ReadonlyMap<string, MessageShape>;
}

/** Members that no schema lists go here, so that they cannot collide with those that one does. */
export const EXTRAS_FIELD = 'additional_properties';
export const EXTRAS_NUMBER = 1_000;

let known: ServiceShape | undefined;

/** Made at the first question: a host without gRPC does without. */
export function grpcService(): ServiceShape {
  known ??= shapeService();
  return known;
}

function shapeService(): ServiceShape {
  const shaper = createShaper();
  const methods = GRPC_METHODS.map((method): MethodShape => {
    const described = route(method.operationId);
    const name = methodName(method.operationId);
    const request = shaper.request(`${name}Request`, requestFields(method, described));
    return { name, method, route: described, request, response: shaper.response(method, described) };
  });
  return { methods, messages: shaper.messages };
}

/** The parameters of the path, the members of the body and the parameters of the query, in this order. */
function requestFields(method: GrpcMethod, described: Route): readonly RequestField[] {
  if (method.request !== undefined) return method.request;
  const inPath = pathParameters(described.path).map((name) => {
    const { schema, description } = PATH_PARAMETERS[name as keyof typeof PATH_PARAMETERS];
    return { field: snakeCase(name), place: 'path' as const, name, schema, description, isRequired: true };
  });
  const inQuery = (described.query ?? [])
    .filter(({ name }) => method.leftOut?.includes(name) !== true)
    .map(({ name, schema, description, required = false }) => {
      return {
        field: snakeCase(name),
        place: 'query' as const,
        name,
        schema,
        description,
        isRequired: required,
      };
    });
  return [...inPath, ...bodyFields(described), ...inQuery];
}

function bodyFields({ request }: Route): readonly RequestField[] {
  if (request === undefined) return [];
  const { properties, required } = membersOf(request.schema);
  return Object.entries(properties).map(([name, schema]) => {
    return { field: snakeCase(name), place: 'body', name, schema, isRequired: required.has(name) };
  });
}

interface Members {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly Members[];
}

function membersOf({ properties = {}, required = [], allOf = [] }: Members): {
  readonly properties: Readonly<Record<string, TSchema>>;
  readonly required: ReadonlySet<string>;
} {
  const parts = allOf.map(membersOf);
  return {
    properties: Object.assign({}, ...parts.map((part) => part.properties), properties) as Readonly<
      Record<string, TSchema>
    >,
    required: new Set([...parts.flatMap((part) => [...part.required]), ...required]),
  };
}

interface Shaper {
  readonly messages: Map<string, MessageShape>;
  request(name: string, fields: readonly RequestField[]): MessageShape;
  response(method: GrpcMethod, described: Route): MessageShape | undefined;
}

const REFERENCE = '#';
const NAMED = new Map<string, TSchema>(
  Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [componentName(name), schema]),
);

function createShaper(): Shaper {
  const bundle = createBundle(REFERENCE);
  const messages = new Map<string, MessageShape>();

  /** Adds the message before what it holds, so that the .proto reads from the outside in. */
  function add(name: string, make: () => Omit<MessageShape, 'name' | 'reserved'>): MessageShape {
    messages.set(name, { name, fields: [], reserved: [] });
    const made = make();
    const shape = { name, ...made, reserved: reservedOf(name, made.fields) };
    messages.set(name, shape);
    return shape;
  }

  function typeOf(schema: JsonObject, owner: string, member: string): FieldType {
    const { $ref } = schema;
    if (typeof $ref === 'string') {
      const name = $ref.slice(REFERENCE.length);
      return typeOf(bundle.body(NAMED.get(name) ?? {}), name, '');
    }
    if (schema['type'] === 'array') return listOf(schema, owner, member);
    if (isMessage(schema)) {
      const name = owner + pascalCase(member);
      if (!messages.has(name)) addDocument(name, schema);
      return { kind: 'message', message: name, isRepeated: false };
    }
    return { kind: plainKind(schema), isRepeated: false };
  }

  function listOf({ items }: JsonObject, owner: string, member: string): FieldType {
    if (!isJsonObject(items)) return { kind: 'value', isRepeated: true };
    const item = typeOf(items, owner, member);
    // A list of lists has no form of its own.
    return item.isRepeated ? { kind: 'value', isRepeated: true } : { ...item, isRepeated: true };
  }

  function addDocument(name: string, schema: JsonObject): MessageShape {
    return add(name, () => {
      const properties = schema['properties'] as Readonly<Record<string, JsonObject>>;
      const required = new Set((schema['required'] ?? []) as string[]);
      const fields = Object.entries(properties).map(([jsonName, member]): FieldShape => {
        const { content, isNullable } = withoutNull(member);
        const isRequired = required.has(jsonName) && !isNullable;
        return fieldOf(name, snakeCase(jsonName), jsonName, typeOf(content, name, jsonName), {
          isRequired,
          description: describe(member, isNullable),
        });
      });
      const isOpen = schema['additionalProperties'] !== false;
      return { fields, ...(isOpen && { extras: EXTRAS }) };
    });
  }

  return {
    messages,
    request(name, fields) {
      return add(name, () => ({
        fields: fields.map(({ field, place, name: jsonName, schema, isRequired, description }) => {
          const plain = bundle.schema(schema) as JsonObject;
          const shape = fieldOf(name, field, jsonName, typeOf(plain, name, jsonName), {
            isRequired,
            description: description ?? describe(plain, false),
          });
          return { ...shape, place };
        }),
      }));
    },
    response(method, described) {
      if (method.isStream === true)
        return addStream(add, (name) => typeOf({ $ref: REFERENCE + name }, '', ''));
      const schema = method.response ?? answerOf(described);
      if (schema === undefined) return undefined;
      const plain = bundle.schema(schema) as JsonObject;
      const { message } = typeOf(plain, methodName(method.operationId), 'response');
      if (message === undefined) throw new Error(`${method.operationId} answers no object.`);
      return messages.get(message);
    },
  };
}

function answerOf({ responses }: Route): TSchema | undefined {
  return Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].schema;
}

const FRAME = 'StreamRunEventsResponse';
const BATCH = 'StreamBatch';

/** What one server-sent event is over HTTP: its id, its name, and one of several documents. */
function addStream(
  add: (name: string, make: () => Omit<MessageShape, 'name' | 'reserved'>) => MessageShape,
  refer: (component: string) => FieldType,
): MessageShape {
  const frame = add(FRAME, () => {
    const one = (name: string, type: FieldType, description: string): FieldShape => ({
      ...fieldOf(FRAME, name, camelCase(name), type, { isRequired: false, description }),
      oneof: 'data',
    });
    return {
      fields: [
        fieldOf(
          FRAME,
          'sequence',
          'sequence',
          { kind: 'int64', isRepeated: false },
          {
            isRequired: false,
            description: 'Continue after it with last_sequence. Unset for what is in no log.',
          },
        ),
        fieldOf(
          FRAME,
          'event',
          'event',
          { kind: 'string', isRepeated: false },
          {
            isRequired: true,
            description: 'The type of the event, or state.snapshot, ai.message.chunk, batch, run.annotated.',
          },
        ),
        one('run_event', refer('RunEvent'), 'An event of the log.'),
        one('snapshot', refer('RunSnapshot'), 'In the mode values.'),
        one('chunk', refer('OutputChunk'), 'In the mode messages.'),
        one('annotation', refer('AnnotationNotice'), 'What was said about the run meanwhile.'),
        one('batch', { kind: 'message', message: BATCH, isRepeated: false }, 'With buffer_ms.'),
      ],
    };
  });
  add(BATCH, () => ({
    fields: [
      fieldOf(
        BATCH,
        'frames',
        'frames',
        { kind: 'message', message: FRAME, isRepeated: true },
        {
          isRequired: true,
          description: 'What came within buffer_ms, in order.',
        },
      ),
    ],
  }));
  return frame;
}

const EXTRAS: FieldShape = {
  name: EXTRAS_FIELD,
  jsonName: '',
  number: EXTRAS_NUMBER,
  kind: 'struct',
  isRepeated: false,
  isOptional: false,
  description: 'Members of the JSON document that this version does not list.',
};

function fieldOf(
  message: string,
  name: string,
  jsonName: string,
  type: FieldType,
  { isRequired, description }: { readonly isRequired: boolean; readonly description?: string | undefined },
): FieldShape {
  const number = FIELD_NUMBERS[message]?.[name];
  if (number === undefined) {
    const next = Math.max(0, ...Object.values(FIELD_NUMBERS[message] ?? {})) + 1;
    throw new Error(`${message}.${name} has no number; give it the next one in field-numbers.ts: ${next}.`);
  }
  // Presence of messages is known anyway, and lists have none.
  const isOptional = !isRequired && !type.isRepeated && !isOfMessages(type);
  return { ...type, name, jsonName, number, isOptional, ...(description !== undefined && { description }) };
}

function isOfMessages({ kind }: FieldType): boolean {
  return kind === 'message' || kind === 'struct' || kind === 'value';
}

/** Numbers of fields that were there once, so that no other field gets them. */
function reservedOf(message: string, fields: readonly FieldShape[]): MessageShape['reserved'] {
  const names = new Set(fields.map(({ name }) => name));
  return Object.entries(FIELD_NUMBERS[message] ?? {}).filter(([name]) => !names.has(name));
}

function describe({ description }: JsonObject, isNullable: boolean): string | undefined {
  const text = typeof description === 'string' ? description : undefined;
  if (!isNullable) return text;
  return text === undefined ? 'Unset: null.' : `${text} Unset: null.`;
}

/** Null is a member that is not set. */
function withoutNull(schema: JsonObject): { readonly content: JsonObject; readonly isNullable: boolean } {
  const choices = schema['anyOf'];
  const content = Array.isArray(choices) ? choices.filter((choice) => !isNull(choice)) : [];
  return Array.isArray(choices) && content.length === 1 && choices.length === 2
    ? { content: content[0] as JsonObject, isNullable: true }
    : { content: schema, isNullable: false };
}

function isNull(schema: Json): boolean {
  return isJsonObject(schema) && schema['type'] === 'null';
}

/** An object is a message when its members have names that the schema knows; the others are bags. */
function isMessage(schema: JsonObject): boolean {
  return (
    schema['type'] === 'object' && isJsonObject(schema['properties']) && schema['propertyNames'] === undefined
  );
}

const KINDS: Readonly<Record<string, FieldKind>> = {
  boolean: 'bool',
  integer: 'int64',
  number: 'double',
  object: 'struct',
  string: 'string',
};

function plainKind(schema: JsonObject): FieldKind {
  if (schema['format'] === 'int32') return 'int32';
  if (schema['contentEncoding'] === 'base64') return 'bytes';
  const types = typesIn(schema);
  const [type = ''] = types;
  return types.size === 1 ? (KINDS[type] ?? 'value') : 'value';
}

/** Types that values of the schema may have; empty when it says nothing about them. */
function typesIn(schema: JsonObject): ReadonlySet<string> {
  const { type, const: constant, enum: values, anyOf } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (constant !== undefined) return new Set([typeof constant]);
  if (Array.isArray(values)) return new Set(values.map((value) => typeof value));
  if (!Array.isArray(anyOf)) return new Set();
  const inChoices = anyOf.map((choice) => typesIn(choice as JsonObject));
  return inChoices.some(({ size }) => size === 0)
    ? new Set()
    : new Set(inChoices.flatMap((each) => [...each]));
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll(/[^a-z0-9_]/g, '_');
}

/** What protobuf makes of a field's name in JSON. */
export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function pascalCase(name: string): string {
  const camel = camelCase(snakeCase(name));
  return camel.charAt(0).toUpperCase() + camel.slice(1);
}
