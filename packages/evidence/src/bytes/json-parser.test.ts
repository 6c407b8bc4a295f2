import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonError } from './json-error.ts';
import { jsonParser } from './json-parser.ts';
import { type JsonNode, jsonTree } from './json-tree.ts';

function read(bytes: Uint8Array, pieces: readonly number[] = []): JsonNode | undefined {
  const tree = jsonTree(1000);
  const parser = jsonParser(tree);
  let at = 0;
  for (const size of pieces) {
    const to = Math.min(bytes.length, at + size);
    parser.write(bytes.subarray(at, to), 0, to - at);
    at = to;
  }
  parser.write(bytes, at, bytes.length);
  return parser.end() ? tree.root() : undefined;
}

function plain(node: JsonNode | undefined): unknown {
  if (Array.isArray(node)) return node.map((item: JsonNode) => plain(item));
  if (!(node instanceof Map)) return node;
  const entries = [...(node as ReadonlyMap<string, JsonNode>)].map(
    ([key, value]) => [key, plain(value)] as const,
  );
  return Object.fromEntries(entries);
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('the JSON reader', () => {
  it('reads what JSON.parse reads, in pieces of any size', () => {
    fc.assert(
      fc.property(fc.json(), fc.array(fc.integer({ min: 1, max: 5 })), (text, pieces) => {
        expect(plain(read(bytesOf(text), pieces))).toEqual(plainNegativeZero(JSON.parse(text)));
      }),
    );
  });

  it('refuses what JSON.parse refuses', () => {
    const alphabet = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      'a',
      '\\',
      'u',
      '0',
      '1',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\t',
      '\u00a0',
      '\ufeff',
    );
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 10 }), (parts) => {
        const text = parts.join('');
        expect(accepts(() => read(bytesOf(text)) !== undefined)).toBe(
          accepts(() => (JSON.parse(text), true)),
        );
      }),
      { numRuns: 3000 },
    );
  });

  it('distinguishes UTF-8 from other bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), fc.boolean(), (middle, isHigh) => {
        const inner = middle
          .map((byte) => (isHigh ? byte | 0x80 : byte))
          .filter((byte) => byte >= 0x20 && byte !== 0x22 && byte !== 0x5c);
        const bytes = Uint8Array.from([0x22, ...inner, 0x22]);
        const decode = (): string => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(inner);

        expect(accepts(() => read(bytes) !== undefined)).toBe(accepts(() => (decode(), true)));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['"a\u0000"', 'raw control character', 2],
    ['{"a":NaN}', '"NaN" is not a JSON value', 5],
    ['\ufeff{}', 'byte order mark', 0],
    ['{} {}', 'text follows', 3],
    ['{"a":1,}', 'a key in double quotes', 7],
  ])('says where %j is wrong', (text, message, offset) => {
    const error = caught(() => read(bytesOf(text)));

    expect(error).toBeInstanceOf(JsonError);
    expect(error).toMatchObject({ message: expect.stringContaining(message), offset });
  });

  it('survives a hundred thousand levels', () => {
    const text = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

    expect(read(bytesOf(text))).toBeDefined();
  });

  it('joins escaped pairs and keeps lone halves', () => {
    expect(read(bytesOf('"\\ud83d\\ude00 \\ud83d \\ude00\\ud83d"'))).toBe('\ud83d\ude00 \ud83d \ude00\ud83d');
  });
});

function accepts(work: () => boolean): boolean {
  try {
    return work();
  } catch {
    return false;
  }
}

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** toEqual distinguishes -0 from 0, and so do both readers; keys named __proto__ become properties in both. */
function plainNegativeZero(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainNegativeZero);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainNegativeZero(item)]));
}
