import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical.ts';
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
});
