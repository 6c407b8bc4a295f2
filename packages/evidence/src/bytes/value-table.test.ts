import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sorted } from '../testing/plain-projector.ts';
import { tableOf, valuesOf } from './value-table.ts';
import { compareText, toBytes, toText } from './wtf8.ts';

const units = fc.array(
  fc.constantFrom('a', 'b', '\u0000', 'é', '\ud800', '\udc00', '\ue000', '\uffff', '😀', '𐀀'),
  { maxLength: 8 },
);
const text = units.map((parts) => parts.join(''));

describe('text as bytes', () => {
  it('comes back as it was, lone surrogates too', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (value) => {
        const bytes = toBytes(value);

        expect(toText(bytes, 0, bytes.length)).toBe(value);
      }),
    );
  });

  it('is compared by code points, not by UTF-16 units', () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        const [first] = sorted([right, left]);

        expect(Math.sign(compareText(left, right))).toBe(left === right ? 0 : first === left ? -1 : 1);
      }),
    );
  });
});

describe('a table of values', () => {
  it('holds each value once, in code point order, however they came', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 200 }), (values) => {
        expect([...valuesOf(tableOf(values))]).toEqual(sorted([...new Set(values)]));
      }),
    );
  });

  it('sorts many values with long common beginnings', () => {
    const values = Array.from(
      { length: 5000 },
      (_, index) => `/very/long/common/beginning/${(index * 7919) % 5000}/x`,
    );

    expect([...valuesOf(tableOf([...values, ...values]))]).toEqual(sorted([...new Set(values)]));
  });
});
