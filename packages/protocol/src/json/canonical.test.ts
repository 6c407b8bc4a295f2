import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, canonicalParts } from './canonical.ts';
import type { Json } from './json.ts';

describe('canonical JSON', () => {
  it('sorts keys by UTF-16 code units and prints numbers as ECMAScript does', () => {
    expect(canonicalJson({ b: 1e21, a: [1.0, -0], é: '€', '😀': null })).toBe(
      '{"a":[1,0],"b":1e+21,"é":"€","😀":null}',
    );
  });

  it('holds the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Json;

        expect(JSON.parse(canonicalJson(plain))).toStrictEqual(plain);
      }),
    );
  });

  it('may meet the same object twice', () => {
    const shared = { a: 1 };

    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  it('is the same text in parts, however many levels are taken apart', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 5 }), (value, levels) => {
        const plain = JSON.parse(JSON.stringify(value)) as Json;

        expect([...canonicalParts(plain, levels)].join('')).toBe(canonicalJson(plain));
      }),
    );
  });

  it('hands out a large value in many parts', () => {
    const large = { list: Array.from({ length: 5_000 }, (_, index) => ({ name: `entry ${index}`, index })) };
    const parts = [...canonicalParts(large)];

    expect(parts.length).toBeGreaterThan(5);
    expect(parts.join('')).toBe(canonicalJson(large));
  });
});
