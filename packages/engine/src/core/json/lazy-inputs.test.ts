import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { readInputs, recordFromText } from './lazy-inputs.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import { finish } from './cooperative-task.ts';

const build = (members: Partial<CreationRecord>): CreationRecord =>
  ({ runId: 'r', inputs: {}, tags: [], ...members }) as unknown as CreationRecord;

const LARGE: JsonObject = { text: 'x'.repeat(20_000), inputs: { '"inputs":': 1 }, list: [1, '}', ']'] };

function isLazy(record: CreationRecord): boolean {
  return Object.getOwnPropertyDescriptor(record, 'inputs')?.get !== undefined;
}

describe('the inputs of a record', () => {
  it.each([
    [{ inputs: LARGE }],
    [{ inputs: LARGE, tags: ['a'], metadata: { b: 1 } }],
    [{ principal: 'p"', parent: { inputs: 1 }, inputs: LARGE }],
    [{ principal: 'p', inputs: LARGE, tags: ['a'] }],
  ])('are read when they are asked for, wherever they stand: case %#', (members) => {
    const record = recordFromText(JSON.stringify(members), build);

    expect(isLazy(record)).toBe(true);
    expect({ ...record, inputs: undefined }).toEqual({ ...build({}), ...members, inputs: undefined });
    const again = recordFromText(JSON.stringify(members), build);
    expect(again.inputs).toEqual(LARGE);
    expect(again.inputs).toBe(again.inputs);
    expect(isLazy(again)).toBe(false);
    expect(again).toEqual(build(members as Partial<CreationRecord>));
  });

  it('can be read in steps beforehand', () => {
    const record = recordFromText(JSON.stringify({ inputs: LARGE }), build);

    finish(readInputs(record));
    finish(readInputs(record));

    expect(isLazy(record)).toBe(false);
    expect(record.inputs).toEqual(LARGE);
  });

  it('are read at once when they are small or there are none', () => {
    const small = recordFromText('{"inputs":{"a":1}}', build);
    const none = recordFromText(JSON.stringify({ tags: ['x'.repeat(20_000)] }), build);

    expect([isLazy(small), isLazy(none)]).toEqual([false, false]);
    expect([small.inputs, none.inputs]).toEqual([{ a: 1 }, {}]);
  });
});
