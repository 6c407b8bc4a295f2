import { isUtf8 } from 'node:buffer';
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
 * A message as the JSON that the same request is over HTTP, read in one pass along its shape. What proto3 has a reader ignore is
 * ignored: fields that the shape does not have, and fields of another wire type. What JSON cannot hold is refused, and the same
 * bounds hold as for JSON: its depth, and the number of its objects and arrays.
 */
export interface DecodeOptions {
  readonly messages: ReadonlyMap<string, MessageShape>;
  readonly maxDepth: number;
  readonly maxContainers: number;
}

type Reader = InstanceType<typeof protobuf.Reader>;
type Steps<Result> = Generator<undefined, Result, undefined>;

interface Decoding extends DecodeOptions {
  readonly reader: Reader;
  /** Names of the members around what is being read. */
  readonly path: (string | number)[];
  containers: number;
  values: number;
}

/** Values between two places at which other work may run. */
const STEP = 1_000;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

/** Throws HostError `validation_error`. */
export function* decodeMessage(
  shape: MessageShape,
  bytes: Uint8Array,
  options: DecodeOptions,
): Steps<JsonObject> {
  const decoding: Decoding = {
    ...options,
    reader: protobuf.Reader.create(bytes),
    path: [],
    containers: 0,
    values: 0,
  };
  try {
    const into: JsonObject = {};
    yield* readFields(decoding, shape, bytes.length, into);
    return into;
  } catch (error) {
    if (error instanceof HostError) throw error;
    throw new HostError('validation_error', `These bytes are not a message ${shape.name}.`, {
      field: fieldName(decoding),
    });
  }
}

function* readFields(decoding: Decoding, shape: MessageShape, end: number, into: JsonObject): Steps<void> {
  const { reader, path } = decoding;
  enter(decoding);
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = shape.fields.find(({ number }) => number === tag >>> 3);
    if (field === undefined || !fits(field, tag & 7)) {
      reader.skipType(tag & 7);
      continue;
    }
    path.push(field.jsonName);
    if (field.isRepeated) yield* readItems(decoding, field, tag & 7, listAt(into, field.jsonName));
    else set(into, field.jsonName, yield* readField(decoding, field, into[field.jsonName]));
    path.pop();
  }
  leave(reader, end);
}

const WIRE_TYPES: Readonly<Record<FieldShape['kind'], number>> = {
  bool: VARINT,
  int32: VARINT,
  int64: VARINT,
  double: FIXED64,
  string: DELIMITED,
  bytes: DELIMITED,
  struct: DELIMITED,
  value: DELIMITED,
  message: DELIMITED,
};

function fits({ kind, isRepeated }: FieldShape, wireType: number): boolean {
  return wireType === WIRE_TYPES[kind] || (isRepeated && wireType === DELIMITED);
}

function* readItems(decoding: Decoding, field: FieldShape, wireType: number, items: Json[]): Steps<void> {
  if (wireType === WIRE_TYPES[field.kind]) {
    items.push(yield* readField(decoding, field, undefined));
    return;
  }
  const { reader } = decoding;
  // Numbers may come packed.
  for (const end = reader.uint32() + reader.pos; reader.pos < end; )
    items.push(yield* readField(decoding, field, undefined));
}

function listAt(into: JsonObject, name: string): Json[] {
  const known = into[name];
  if (Array.isArray(known)) return known;
  const items: Json[] = [];
  set(into, name, items);
  return items;
}

/** A message that comes in several parts is one: proto3 has their fields put together. */
function* readField(
  decoding: Decoding,
  { kind, message }: FieldShape,
  before: Json | undefined,
): Steps<Json> {
  const { reader } = decoding;
  if (decoding.values++ % STEP === STEP - 1) yield;
  switch (kind) {
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return exact(decoding, Number(reader.int64().toString()));
    case 'double':
      return exact(decoding, reader.double());
    case 'string':
      return readText(decoding);
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'value':
      return yield* readValue(decoding, endOfNext(reader));
    case 'struct': {
      const into = isJsonObject(before) ? before : {};
      yield* readStruct(decoding, endOfNext(reader), into);
      return into;
    }
    case 'message': {
      const shape = decoding.messages.get(message ?? '');
      if (shape === undefined) throw new Error(`There is no message ${message}.`);
      const into = isJsonObject(before) ? before : {};
      yield* readFields(decoding, shape, endOfNext(reader), into);
      return into;
    }
  }
}

function endOfNext(reader: Reader): number {
  const length = reader.uint32();
  if (reader.pos + length > reader.len) throw new RangeError('a field ends behind the message');
  return reader.pos + length;
}

function* readStruct(decoding: Decoding, end: number, into: JsonObject): Steps<void> {
  const { reader, path } = decoding;
  enter(decoding);
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag !== STRUCT_FIELDS.tag) {
      reader.skipType(tag & 7);
      continue;
    }
    const endOfEntry = endOfNext(reader);
    let key = '';
    let value: Json = null;
    while (reader.pos < endOfEntry) {
      const part = reader.uint32();
      if (part === STRUCT_FIELDS.keyTag) key = readText(decoding);
      else if (part === STRUCT_FIELDS.valueTag) {
        path.push(key);
        value = yield* readValue(decoding, endOfNext(reader));
        path.pop();
      } else reader.skipType(part & 7);
    }
    leave(reader, endOfEntry);
    set(into, key, value);
  }
  leave(reader, end);
}

function* readValue(decoding: Decoding, end: number): Steps<Json> {
  const { reader } = decoding;
  if (decoding.values++ % STEP === STEP - 1) yield;
  let value: Json | undefined;
  while (reader.pos < end) {
    const tag = reader.uint32();
    switch (tag) {
      case VALUE.nullTag:
        reader.uint32();
        value = null;
        break;
      case VALUE.numberTag:
        value = exact(decoding, reader.double());
        break;
      case VALUE.stringTag:
        value = readText(decoding);
        break;
      case VALUE.boolTag:
        value = reader.bool();
        break;
      case VALUE.structTag: {
        const into: JsonObject = isJsonObject(value) ? value : {};
        yield* readStruct(decoding, endOfNext(reader), into);
        value = into;
        break;
      }
      case VALUE.listTag:
        value = yield* readList(decoding, endOfNext(reader));
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  leave(reader, end);
  if (value === undefined)
    throw refused(decoding, 'is a google.protobuf.Value without a kind; set one, null_value for null');
  return value;
}

function* readList(decoding: Decoding, end: number): Steps<Json[]> {
  const { reader, path } = decoding;
  const items: Json[] = [];
  enter(decoding);
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag !== LIST_VALUE.tag) {
      reader.skipType(tag & 7);
      continue;
    }
    path.push(items.length);
    items.push(yield* readValue(decoding, endOfNext(reader)));
    path.pop();
  }
  leave(reader, end);
  return items;
}

function readText(decoding: Decoding): string {
  const bytes = decoding.reader.bytes();
  if (!isUtf8(bytes)) throw refused(decoding, 'is not text in UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function exact(decoding: Decoding, value: number): number {
  if (!Number.isFinite(value)) throw refused(decoding, 'is NaN or infinite, which JSON does not have');
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw refused(decoding, 'is an integer beyond 2^53, which JSON readers round; send it as text');
  return value;
}

/** Objects and arrays are counted as they are for JSON. */
function enter(decoding: Decoding): void {
  const { maxDepth, maxContainers, path } = decoding;
  decoding.containers += 1;
  if (decoding.containers > maxContainers)
    throw new HostError(
      'validation_error',
      `The message holds more than ${maxContainers} objects and arrays; divide it.`,
      {
        field: 'body',
        limit: maxContainers,
      },
    );
  if (path.length + 1 > maxDepth)
    throw new HostError('validation_error', `The message is nested deeper than ${maxDepth} levels.`, {
      field: fieldName(decoding),
      limit: maxDepth,
    });
}

function leave({ pos }: Reader, end: number): void {
  if (pos !== end) throw new RangeError('what a field holds is longer than the field');
}

function fieldName({ path }: Decoding): string {
  return path.length === 0 ? 'body' : path.slice(0, SHOWN).join('.').slice(0, LONGEST_NAME);
}

const SHOWN = 16;
const LONGEST_NAME = 256;

function refused(decoding: Decoding, problem: string): HostError {
  const field = fieldName(decoding);
  return new HostError('validation_error', `"${field}" ${problem}.`, { field });
}

/** `__proto__` is a name like any other. */
function set(into: JsonObject, name: string, value: Json): void {
  if (name === '__proto__')
    Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
  else into[name] = value;
}
