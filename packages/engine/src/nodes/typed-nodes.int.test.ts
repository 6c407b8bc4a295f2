import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BUILTIN_NODE_TYPES } from './index.ts';
import { renderTypedNodes } from './typed-nodes.ts';

const file = new URL('../../../sdk/src/workflows/builtin-types.ts', import.meta.url);

describe('the node types of the host as TypeScript', () => {
  it('stand in the SDK as the engine has them (UPDATE_DOCS=1 rewrites it)', () => {
    const text = renderTypedNodes(BUILTIN_NODE_TYPES);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(file, text);

    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
