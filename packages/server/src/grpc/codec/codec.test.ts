import {
  grpcService,
  isJsonObject,
  type Json,
  type JsonObject,
  type MessageShape,
  protoDocument,
} from '@weft/protocol';
import { sampleOf } from '@weft/protocol/schema-samples';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import { documentOf, struct, valueOf, withoutDefaults } from '../../testing/grpc-documents.ts';
import { decodeMessage } from './decode-message.ts';
import { type Document, encodeMessage } from './encode-message.ts';

/** The messages as a stranger's library reads them from the published text. */
const { root } = protobuf.parse(protoDocument(), { keepCase: true });
root.addJSON(protobuf.common.get('google/protobuf/struct.proto')?.nested ?? {});
root.addJSON(protobuf.common.get('google/protobuf/empty.proto')?.nested ?? {});
root.resolveAll();

const { methods, messages } = grpcService();
const ANSWERS = methods.flatMap(({ name, response, method, route }) =>
  response === undefined || method.isStream === true
    ? []
    : [[name, response, method.response ?? Object.values(route.responses)[0]?.schema] as const],
);

function finished<Result>(steps: Generator<undefined, Result, undefined>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const encode = (shape: MessageShape, document: Document, maxBytes = 1 << 24) =>
  finished(encodeMessage(shape, document, { messages, maxBytes }));

function read(name: string, bytes: Uint8Array): Json {
  const type = root.lookupType(`openwop.v1.${name}`);
  return documentOf(type.toObject(type.decode(bytes), { longs: Number, bytes: Buffer }));
}

function bytesOf(name: string, message: object): Uint8Array {
  const type = root.lookupType(`openwop.v1.${name}`);
  return type.encode(type.fromObject(message)).finish();
}

function shapeOf(name: string): MessageShape {
  const shape = messages.get(name);
  if (shape === undefined) throw new Error(name);
  return shape;
}

const LIMITS = { messages, maxDepth: 64, maxContainers: 100_000 };
const decode = (name: string, bytes: Uint8Array, limits = LIMITS) =>
  finished(decodeMessage(shapeOf(name), bytes, limits));

const jsonValue = fc.jsonValue({ maxDepth: 4, depthSize: 'small' }) as fc.Arbitrary<Json>;
const bag = fc.dictionary(fc.string(), jsonValue.map(whole), { maxKeys: 5 }) as fc.Arbitrary<JsonObject>;

/** JSON that readers do not round: no number beyond 2^53, no -0, no lone surrogate. */
function whole(json: Json): Json {
  return JSON.parse(
    JSON.stringify(json, (_, value: unknown) => {
      if (typeof value === 'number')
        return Number.isInteger(value) && !Number.isSafeInteger(value) ? 7 : value + 0;
      return typeof value === 'string' ? value.toWellFormed() : value;
    }),
  ) as Json;
}

describe('a document becomes a message', () => {
  it.each(ANSWERS)('of %s with every member that its schema has', (_, shape, schema) => {
    const document = sampleOf(schema ?? {}, { hasMember: () => true }) as JsonObject;
    const { content, ...sample } = document;
    // Of artifacts the bytes themselves are sent.
    const sent = content === undefined ? sample : { ...sample, content: Buffer.from('bytes') };

    const seen = read(shape.name, encode(shape, sent));

    expect(withoutDefaults(seen)).toEqual(withoutDefaults(sent as JsonObject));
  });

  it.each(ANSWERS.filter(([, shape]) => shape.extras !== undefined))(
    'of %s with a member that its schema does not have',
    (_name, shape, schema) => {
      const { content: _, ...sample } = sampleOf(schema ?? {}) as JsonObject;
      const document = { ...sample, newMember: { deep: [1, null, 'x'] } };

      expect(read(shape.name, encode(shape, document))).toMatchObject({
        newMember: { deep: [1, null, 'x'] },
      });
    },
  );

  it.each(ANSWERS.filter(([, shape]) => shape.extras === undefined))(
    'of %s never without a member: where there is no place for it, that is an error',
    (_, shape, schema) => {
      const document = { ...(sampleOf(schema ?? {}) as JsonObject), newMember: 1 };

      expect(() => encode(shape, document)).toThrow(/no field for a member/);
    },
  );

  it('with its bags as they are, whatever is in them', () => {
    fc.assert(
      fc.property(bag, jsonValue.map(whole), (variables, payload) => {
        const snapshot = read('RunSnapshot', encode(shapeOf('RunSnapshot'), { variables })) as JsonObject;
        const event = read('RunEvent', encode(shapeOf('RunEvent'), { payload })) as JsonObject;

        expect([snapshot['variables'] ?? {}, event['payload']]).toEqual([variables, payload]);
      }),
    );
  });

  it('and is refused when it would be larger than a message may be', () => {
    const variables = { text: 'x'.repeat(2_000) };

    expect(() => encode(shapeOf('RunSnapshot'), { variables }, 2_000)).toThrow(/more than the 2000 bytes/);
    expect(() =>
      encode(shapeOf('RunSnapshot'), { tags: Array.from({ length: 5_000 }, () => 'x') }, 2_000),
    ).toThrow(/more than the 2000 bytes/);
  });
});

describe('a message becomes what the same request is as JSON', () => {
  it('with its bags as they are, whatever is in them', () => {
    fc.assert(
      fc.property(bag, bag, (inputs, metadata) => {
        const bytes = bytesOf('CreateRunRequest', {
          workflow_id: 'w',
          inputs: struct(inputs),
          metadata: struct(metadata),
          tags: ['a', 'b'],
        });

        expect(decode('CreateRunRequest', bytes)).toEqual({
          workflowId: 'w',
          inputs,
          metadata,
          tags: ['a', 'b'],
        });
      }),
    );
  });

  it('and keeps a member called __proto__ as one', () => {
    const inputs = JSON.parse('{"__proto__": {"polluted": true}}') as JsonObject;

    const { inputs: seen } = decode(
      'CreateRunRequest',
      bytesOf('CreateRunRequest', { inputs: struct(inputs) }),
    );

    expect(JSON.stringify(seen)).toBe('{"__proto__":{"polluted":true}}');
    expect({}).not.toHaveProperty('polluted');
  });

  it('without fields that it does not know, and without those of another type', () => {
    const unknown = protobuf.Writer.create()
      .uint32((900 << 3) | 2)
      .string('?')
      .uint32((901 << 3) | 0)
      .uint32(7);
    const asNumber = unknown
      .uint32((1 << 3) | 0)
      .uint32(5)
      .finish();
    const known = bytesOf('CreateRunRequest', { workflow_id: 'w' });

    expect(decode('CreateRunRequest', Buffer.concat([known, asNumber]))).toEqual({ workflowId: 'w' });
  });

  it('with what came in parts put together, and the last of what came twice', () => {
    const parts = [
      { workflow_id: 'first', inputs: struct({ a: 1, b: 1 }), residency: { region: 'eu' } },
      { workflow_id: 'last', inputs: struct({ b: 2 }), residency: {} },
    ].map((part) => bytesOf('CreateRunRequest', part));

    expect(decode('CreateRunRequest', Buffer.concat(parts))).toEqual({
      workflowId: 'last',
      inputs: { a: 1, b: 2 },
      residency: { region: 'eu' },
    });
  });

  it('with a sequence of 0 told apart from none', () => {
    expect(decode('ForkRunRequest', bytesOf('ForkRunRequest', { from_seq: 0 }))).toEqual({ fromSeq: 0 });
    expect(decode('ForkRunRequest', bytesOf('ForkRunRequest', {}))).toEqual({});
  });

  it.each<[string, object, string]>([
    [
      'NaN',
      { inputs: { fields: { deep: valueOf({ a: [1] }), x: { numberValue: Number.NaN } } } },
      'inputs.x',
    ],
    ['an infinite number', { inputs: { fields: { x: { numberValue: Infinity } } } }, 'inputs.x'],
    ['an integer beyond 2^53', { metadata: struct({ list: [1, 2 ** 53] }) }, 'metadata.list.1'],
    ['a value without a kind', { inputs: { fields: { x: {} } } }, 'inputs.x'],
  ])('but not with %s, and the error names the field', (_, message, field) => {
    const problem = errorOf(() => decode('CreateRunRequest', bytesOf('CreateRunRequest', message)));

    expect(problem).toMatchObject({ code: 'validation_error', details: { field } });
  });

  it('but not with an int64 that JSON would round', () => {
    const tag = protobuf.Writer.create().uint32(
      ((shapeOf('ForkRunRequest').fields.find(({ name }) => name === 'from_seq')?.number ?? 0) << 3) | 0,
    );
    const bytes = tag.int64('9007199254740993').finish();

    expect(errorOf(() => decode('ForkRunRequest', bytes))).toMatchObject({ details: { field: 'fromSeq' } });
  });

  it('but not with text that is not UTF-8', () => {
    const bytes = protobuf.Writer.create()
      .uint32((1 << 3) | 2)
      .bytes(Buffer.from([0xc3, 0x28]))
      .finish();

    expect(errorOf(() => decode('CreateRunRequest', bytes))).toMatchObject({
      details: { field: 'workflowId' },
    });
  });

  it('but not nested deeper than JSON may be, nor with more objects', () => {
    const nested = (depth: number): Json => (depth === 0 ? 1 : { a: nested(depth - 1) });
    const crowd = bytesOf('CreateRunRequest', {
      inputs: struct({ list: Array.from({ length: 50 }, () => ({})) }),
    });

    expect(
      isJsonObject(
        decode('CreateRunRequest', encode(shapeOf('CreateRunRequest'), { inputs: { a: nested(61) } })),
      ),
    ).toBe(true);
    expect(
      errorOf(() =>
        decode('CreateRunRequest', encode(shapeOf('CreateRunRequest'), { inputs: { a: nested(63) } })),
      ),
    ).toMatchObject({ details: { limit: 64 } });
    expect(errorOf(() => decode('CreateRunRequest', crowd, { ...LIMITS, maxContainers: 40 }))).toMatchObject({
      details: { limit: 40 },
    });
  });

  it('and any bytes at all are either read or refused, and nothing else', () => {
    const requests = methods.map(({ request }) => request.name);
    fc.assert(
      fc.property(fc.constantFrom(...requests), fc.uint8Array({ maxLength: 200 }), (name, bytes) => {
        try {
          decode(name, bytes);
        } catch (error) {
          expect(error).toMatchObject({ name: 'HostError', code: 'validation_error' });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('and a message that was cut or bent anywhere is either read or refused', () => {
    const bytes = bytesOf('CreateRunRequest', {
      workflow_id: 'w',
      inputs: struct({ a: [1, { b: 'text' }, null, true] }),
      tags: ['t'],
      residency: { region: 'eu' },
    });
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.boolean(), (at, byte, isCut) => {
        const bent = Uint8Array.from(isCut ? bytes.subarray(0, at) : bytes);
        if (!isCut) bent[at] = byte;
        try {
          decode('CreateRunRequest', bent);
        } catch (error) {
          expect(error).toMatchObject({ code: 'validation_error' });
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It was taken.');
}
