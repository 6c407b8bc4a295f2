import type { Json } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCooperatively, stringifyCooperatively } from './large-json.ts';
import { finish, type CooperativeTask } from './cooperative-task.ts';

function counted<Result>(steps: CooperativeTask<Result>): { result: Result; yields: number } {
  for (let yields = 0; ; yields += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, yields };
  }
}

const SHAPES: Readonly<Record<string, Json>> = {
  'a long text': 'x"\\'.repeat(50_000),
  'many texts': Array.from({ length: 2_000 }, (_, index) => `${'y'.repeat(97)}\\"${index}`),
  'many objects': Array.from({ length: 8_000 }, (_, id) => ({ id, name: `n${id % 10}` })),
  'many lists': Array.from({ length: 60_000 }, () => []),
  'many names': Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index])),
  'one below the other': Array.from({ length: 60 }).reduce<Json>(
    (inner) => ({ list: [inner] }),
    Array.from({ length: 30_000 }, (_, index) => index),
  ),
  'large and small by turns': Array.from({ length: 10 }, (_, index) => ({
    small: index,
    large: 'z'.repeat(40_000),
    '"tricky\\': [true, null, -1.5e-7],
  })),
};

describe('large JSON', () => {
  it.each(Object.entries(SHAPES))('comes back as it was: %s', (_, value) => {
    const text = JSON.stringify(value);

    expect(finish(stringifyCooperatively(value))).toBe(text);
    expect(JSON.stringify(finish(parseCooperatively(text)))).toBe(text);
  });

  it.each(Object.entries(SHAPES).filter(([name]) => name !== 'a long text'))(
    'is worked on in many steps: %s',
    (_, value) => {
      const text = JSON.stringify(value);

      expect(counted(parseCooperatively(text)).yields).toBeGreaterThanOrEqual(
        Math.floor(text.length / 70_000),
      );
      expect(counted(stringifyCooperatively(value)).yields).toBeGreaterThan(0);
    },
  );

  it('knows no special names', () => {
    const text = `{"__proto__":{"a":1},"large":"${'x'.repeat(100_000)}","constructor":2}`;
    const value = finish(parseCooperatively(text));

    expect(JSON.stringify(value)).toBe(text);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    const many: Json = Array.from({ length: 5_000 }, () => JSON.parse('{"__proto__":1}') as Json);
    expect(finish(stringifyCooperatively(many))).toBe(JSON.stringify(many));
  });

  it('leaves out what is undefined', () => {
    const value = { none: undefined, many: Array.from({ length: 9_000 }, () => 1) };

    expect(finish(stringifyCooperatively(value as unknown as Json))).toBe(JSON.stringify(value));
  });

  it('that is broken is refused', () => {
    const text = JSON.stringify(SHAPES['many objects']);
    const cut = [text.slice(0, -1), `${text}x`, text.replace(',{', '{'), text.slice(0, 100_000)];

    for (const broken of cut) expect(() => finish(parseCooperatively(broken))).toThrow(SyntaxError);
  });

  it('is the same as small JSON, whatever it holds', () => {
    const filler = 'f'.repeat(40_000);
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), fc.nat(6), (values, place) => {
        const list = [...values.slice(0, place), filler, ...values.slice(place)] as Json[];
        const value: Json = [list, Object.fromEntries(list.map((each, index) => [`${index}"`, each]))];
        const text = JSON.stringify(value);

        expect(JSON.stringify(finish(parseCooperatively(text)))).toBe(text);
        expect(finish(stringifyCooperatively(value))).toBe(text);
      }),
    );
  });
});
