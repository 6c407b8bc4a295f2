import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { readTool } from './tool-definition.ts';

const listed = (more: JsonObject = {}): JsonObject => ({
  name: 'work',
  inputSchema: { type: 'object' },
  ...more,
});
const digestOf = (definition: JsonObject) => {
  const tool = readTool(definition);
  return typeof tool === 'string' ? tool : tool.digest;
};

describe('what a server lists as a tool', () => {
  it.each<[JsonObject, { isReadOnly: boolean; isIdempotent: boolean; isDestructive: boolean }]>([
    [{}, { isReadOnly: false, isIdempotent: false, isDestructive: true }],
    [{ readOnlyHint: true }, { isReadOnly: true, isIdempotent: true, isDestructive: false }],
    [
      { readOnlyHint: true, destructiveHint: true },
      { isReadOnly: true, isIdempotent: true, isDestructive: false },
    ],
    [{ destructiveHint: false }, { isReadOnly: false, isIdempotent: false, isDestructive: false }],
    [
      { destructiveHint: false, idempotentHint: true },
      { isReadOnly: false, isIdempotent: true, isDestructive: false },
    ],
    [
      { readOnlyHint: 'yes', destructiveHint: 0 },
      { isReadOnly: false, isIdempotent: false, isDestructive: true },
    ],
  ])('with the hints %j', (annotations, expected) => {
    expect(readTool(listed({ annotations }))).toMatchObject(expected);
  });

  it('has another digest with another description, schema or hint, and the same in another order', () => {
    const digests = [
      listed(),
      listed({ description: 'x' }),
      listed({ inputSchema: { type: 'object', title: 'x' } }),
      listed({ outputSchema: { type: 'object' } }),
      listed({ annotations: { readOnlyHint: true } }),
    ].map(digestOf);

    expect(new Set(digests).size).toBe(digests.length);
    expect(digestOf({ inputSchema: { type: 'object' }, name: 'work', _meta: { seen: 1 } })).toBe(digests[0]);
  });

  it.each<[unknown, string]>([
    [null, 'no object'],
    [{ inputSchema: {} }, 'its name'],
    [listed({ name: 'a\u0007' }), 'control characters'],
    [listed({ name: 'x'.repeat(129) }), '1 to 128'],
    [{ name: 'work' }, 'no input schema'],
    [listed({ description: '\ud800' }), 'not Unicode'],
    [listed({ description: 'x'.repeat(70_000) }), '65536 bytes'],
  ])('%j is left out with the reason', (definition, reason) => {
    expect(readTool(definition as JsonObject)).toContain(reason);
  });
});
