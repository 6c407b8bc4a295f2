import { compileClientSchema, type JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { CONFORMANCE_ONLY } from '../../conformance/index.ts';
import { BUILTIN_NODE_TYPES } from '../index.ts';

describe('the config schema of a node type', () => {
  // Our own schemas are not held against the meta-schema when the host makes their validators; clients' schemas are.
  it.each(
    [...BUILTIN_NODE_TYPES, ...CONFORMANCE_ONLY].map(({ typeId, config }) => [typeId, config] as const),
  )('is a schema of the dialect: %s', (_typeId, config) => {
    expect(() => compileClientSchema(config as unknown as JsonObject)).not.toThrow();
  });
});
