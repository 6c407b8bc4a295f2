import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchemaObject } from 'ajv';
import { describe, expect, it } from 'vitest';
import * as protocol from '../index.ts';
import { withOwnFormats } from '../validation/validate.ts';

const ajv = withOwnFormats(new Ajv2020({ strict: true }));
const schemas = Object.entries(protocol).filter(([name]) => /^[A-Z].*Schema$/.test(name));

describe('the schemas of the protocol', () => {
  it('include the documents that every client meets', () => {
    expect(schemas.map(([name]) => name)).toEqual(
      expect.arrayContaining([
        'CapabilitiesSchema',
        'CreateRunSchema',
        'ErrorEnvelopeSchema',
        'RunEventDocSchema',
        'RunSnapshotSchema',
        'WorkflowDefinitionSchema',
      ]),
    );
  });

  it.each(schemas)('%s is a schema of the dialect', (_name, schema) => {
    void ajv.validateSchema(schema as unknown as AnySchemaObject);

    expect(ajv.errors ?? []).toEqual([]);
  });
});
