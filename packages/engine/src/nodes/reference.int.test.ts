import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONFORMANCE_ONLY } from '../conformance/index.ts';
import { BUILTIN_NODE_TYPES } from './index.ts';
import { renderNodeReference } from './reference.ts';

const page = new URL('../../../../docs/reference/nodes.md', import.meta.url);

describe('the reference page of the node types', () => {
  it('says what the types say (UPDATE_DOCS=1 rewrites it)', () => {
    const markdown = renderNodeReference([...BUILTIN_NODE_TYPES, ...CONFORMANCE_ONLY]);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(page, markdown);

    expect(readFileSync(page, 'utf8')).toBe(markdown);
  });
});
