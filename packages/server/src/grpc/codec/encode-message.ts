import {
  type FieldShape,
  HostError,
  isJsonObject,
  type Json,
  type JsonObject,
  type MessageShape,
} from '@weft/protocol';
import protobuf from 'protobufjs/minimal.js';
import { LIST_VALUE, STRUCT_FIELDS, VALUE } from './well-known.ts';

/**
 * A JSON document as the message that mirrors it. Each member of the document is written: into its field, or among the additional
 * properties of an open message. A member of a closed document that has no field is a mistake of ours, and said to be one.
 */
export interface EncodeOptions {
  readonly messages: ReadonlyMap<string, MessageShape>;
  /** A longer message is refused with `answer_too_large`. */
  readonly maxBytes: number;
}

/** JSON, but for the content of artifacts. */
export interface Document {
  readonly [member: string]: Json | Uint8Array | undefined;
}

type Writer = InstanceType<typeof protobuf.Writer>;
type Steps<Result> = Generator<undefined, Result, undefined>;

interface Encoding extends EncodeOptions {
  readonly writer: Writer;
  values: number;
}

const STEP = 1_000;

export function* encodeMessage(
  shape: MessageShape,
  document: Document,
  options: EncodeOptions,
): Steps<Buffer> {
  const encoding: Encoding = { ...options, writer: protobuf.Writer.create(), values: 0 };
  yield* writeFields(encoding, shape, document);
  checkSize(encoding);
  return Buffer.from(encoding.writer.finish());
}

export function tooLarge(limit: number): HostError {
  return new HostError(
    'answer_too_large',
    `The answer takes more than the ${limit} bytes that a message may have; ask for less, or over HTTP.`,
    { limit },
  );
}

function checkSize({ writer, maxBytes }: Encoding): void {
  if (writer.len > maxBytes) throw tooLarge(maxBytes);
}

function* writeFields(encoding: Encoding, shape: MessageShape, document: Document): Steps<void> {
  const { writer } = encoding;
  const extras: JsonObject = {};
  for (const [name, value] of Object.entries(document)) {
    if (value === undefined) continue;
    const field = shape.fields.find(({ jsonName }) => jsonName === name);
    if (field !== undefined) yield* writeField(encoding, field, value);
    else if (shape.extras === undefined || value instanceof Uint8Array)
      throw new Error(`The message ${shape.name} has no field for a member of its document.`);
    else Object.defineProperty(extras, name, { value, enumerable: true });
  }
  if (shape.extras === undefined || Object.keys(extras).length === 0) return;
  writer.uint32(tagOf(shape.extras)).fork();
  yield* writeStruct(encoding, extras);
  writer.ldelim();
}

const WIRE_TYPES: Readonly<Record<FieldShape['kind'], number>> = {
  bool: 0,
  int32: 0,
  int64: 0,
  double: 1,
  string: 2,
  bytes: 2,
  struct: 2,
  value: 2,
  message: 2,
};

function tagOf({ number, kind }: FieldShape): number {
  return ((number << 3) | WIRE_TYPES[kind]) >>> 0;
}

function* writeField(encoding: Encoding, field: FieldShape, value: Json | Uint8Array): Steps<void> {
  if (!field.isRepeated) {
    yield* writeOne(encoding, field, value);
    return;
  }
  if (value === null) return;
  if (!Array.isArray(value)) throw mismatch(field);
  for (const item of value) yield* writeOne(encoding, field, item);
}

function* writeOne(encoding: Encoding, field: FieldShape, value: Json | Uint8Array): Steps<void> {
  const { writer } = encoding;
  if (value === null && field.kind !== 'value') return;
  if (isDefault(field, value)) return;
  yield* count(encoding);
  writer.uint32(tagOf(field));
  if (value instanceof Uint8Array) writer.bytes(value);
  else if (field.kind === 'value') yield* delimited(encoding, writeValue(encoding, value));
  else if (field.kind === 'struct' && isJsonObject(value))
    yield* delimited(encoding, writeStruct(encoding, value));
  else if (field.kind === 'message' && isJsonObject(value)) {
    const shape = encoding.messages.get(field.message ?? '');
    if (shape === undefined) throw mismatch(field);
    yield* delimited(encoding, writeFields(encoding, shape, value));
  } else writeScalar(writer, field, value);
}

/** Where a field has no presence, its default is not written. */
function isDefault({ kind, isOptional, isRepeated, oneof }: FieldShape, value: Json | Uint8Array): boolean {
  const hasPresence = isOptional || isRepeated || oneof !== undefined || kind === 'value';
  return !hasPresence && (value === 0 || value === '' || value === false);
}

function writeScalar(writer: Writer, field: FieldShape, value: Json): void {
  const { kind } = field;
  if (kind === 'string' && typeof value === 'string') writer.string(value);
  else if (kind === 'bool' && typeof value === 'boolean') writer.bool(value);
  else if (kind === 'double' && typeof value === 'number') writer.double(value);
  else if (kind === 'int64' && Number.isSafeInteger(value)) writer.int64(value as number);
  else if (kind === 'int32' && Number.isInteger(value)) writer.int32(value as number);
  else throw mismatch(field);
}

function mismatch({ name, kind }: FieldShape): Error {
  return new Error(`The field ${name} cannot hold what the document has there: it takes ${kind}.`);
}

function* delimited({ writer }: Encoding, content: Steps<void>): Steps<void> {
  writer.fork();
  yield* content;
  writer.ldelim();
}

function* writeStruct(encoding: Encoding, members: JsonObject): Steps<void> {
  const { writer } = encoding;
  for (const [name, value] of Object.entries(members)) {
    writer
      .uint32(STRUCT_FIELDS.tag)
      .fork()
      .uint32(STRUCT_FIELDS.keyTag)
      .string(name)
      .uint32(STRUCT_FIELDS.valueTag);
    yield* delimited(encoding, writeValue(encoding, value));
    writer.ldelim();
  }
}

function* writeValue(encoding: Encoding, value: Json): Steps<void> {
  const { writer } = encoding;
  yield* count(encoding);
  if (value === null) writer.uint32(VALUE.nullTag).uint32(0);
  else if (typeof value === 'number') writer.uint32(VALUE.numberTag).double(value);
  else if (typeof value === 'string') writer.uint32(VALUE.stringTag).string(value);
  else if (typeof value === 'boolean') writer.uint32(VALUE.boolTag).bool(value);
  else if (Array.isArray(value))
    yield* delimited(tagged(encoding, VALUE.listTag), writeList(encoding, value));
  else yield* delimited(tagged(encoding, VALUE.structTag), writeStruct(encoding, value));
}

function tagged(encoding: Encoding, tag: number): Encoding {
  encoding.writer.uint32(tag);
  return encoding;
}

function* writeList(encoding: Encoding, items: readonly Json[]): Steps<void> {
  for (const item of items) {
    encoding.writer.uint32(LIST_VALUE.tag);
    yield* delimited(encoding, writeValue(encoding, item));
  }
}

/** Every so many values there is time for others, and a look at how long the message has become. */
function* count(encoding: Encoding): Steps<void> {
  encoding.values += 1;
  if (encoding.values % STEP !== 0) return;
  checkSize(encoding);
  yield;
}
