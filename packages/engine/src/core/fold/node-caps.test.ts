import { describe, expect, it } from 'vitest';
import { nodeBreach } from './node-caps.ts';

const details = { kind: 'wasm-memory', limit: 10, observed: 11 };

describe('a failed attempt', () => {
  it('was over a cap when the sandbox says which, and by how much', () => {
    expect(nodeBreach({ code: 'wasm_cap_breached', details }, 'a')).toEqual({ ...details, nodeId: 'a' });
  });

  it.each([
    ['another code', { code: 'node_failed', details }],
    ['no details', { code: 'wasm_cap_breached' }],
    ['a cap of the run', { code: 'wasm_cap_breached', details: { ...details, kind: 'run-duration' } }],
    ['no numbers', { code: 'wasm_cap_breached', details: { ...details, limit: '10' } }],
    ['less than the limit', { code: 'wasm_cap_breached', details: { ...details, observed: 10 } }],
  ])('was over none with %s', (_, error) => {
    expect(nodeBreach(error, 'a')).toBeUndefined();
  });
});
