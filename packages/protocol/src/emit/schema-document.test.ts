import { describe, expect, it } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { withOwnFormats } from '../validation/validate.ts';
import { SCHEMA_NAMES, schemaDocument } from './schema-document.ts';

const ajv = withOwnFormats(new Ajv2020({ strict: true }));

describe('the schemas as documents', () => {
  it.each(SCHEMA_NAMES)('%s is complete in itself', (name) => {
    const document = schemaDocument(name) ?? {};

    expect(() => ajv.compile(document)).not.toThrow();
    expect(JSON.stringify(document)).not.toMatch(/"\$ref":"(?!#\/\$defs\/)/);
  });

  it('refer to what has a name, wherever it stands', () => {
    expect(schemaDocument('run-snapshot')).toMatchObject({
      title: 'RunSnapshot',
      properties: { status: { $ref: '#/$defs/RunStatus' }, error: { $ref: '#/$defs/RunError' } },
      $defs: { RunError: { required: ['code', 'message'] } },
    });
  });

  it('have the payload of every event', () => {
    expect(schemaDocument('run-event-payloads')).toHaveProperty(
      ['$defs', 'output.chunk', 'required'],
      ['nodeId', 'runId', 'chunk', 'isLast'],
    );
  });

  it('are not there under other names', () => {
    expect(schemaDocument('toString')).toBeUndefined();
    expect(schemaDocument('RunSnapshot')).toBeUndefined();
  });
});
