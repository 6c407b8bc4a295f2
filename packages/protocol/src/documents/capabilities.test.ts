import { describe, expect, it } from 'vitest';
import { type Capabilities, CapabilitiesSchema, mirrorFamilies } from './capabilities.ts';
import { compileValidator } from '../validation/validate.ts';

const validate = compileValidator(CapabilitiesSchema);

const smallest: Capabilities = {
  protocolVersion: '1.0',
  supportedEnvelopes: [],
  schemaVersions: {},
  limits: { clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 },
};

describe('the discovery document', () => {
  it('is valid in its smallest form, and with families of vendors', () => {
    expect(validate(smallest)).toEqual([]);
    expect(validate({ ...smallest, 'acme.thing': { supported: true } })).toEqual([]);
  });

  it('has closed limits that know maxRequestBodyBytes', () => {
    expect(validate({ ...smallest, limits: { ...smallest.limits, maxRequestBodyBytes: 1 } })).toEqual([]);
    expect(
      validate({ ...smallest, limits: { ...smallest.limits, idempotencyAckTimeoutSec: 5 } }),
    ).toHaveLength(1);
  });

  it('has a closed grpc block', () => {
    const grpc = { supported: true, service: 'openwop.v1.Engine', tls: 'required' };

    expect(validate({ ...smallest, grpc })).toEqual([]);
    expect(validate({ ...smallest, grpc: { ...grpc, port: 1 } })).toHaveLength(1);
  });

  it('refuses a protocol version with a patch part', () => {
    expect(validate({ ...smallest, protocolVersion: '1.0.0' })).toHaveLength(1);
  });
});

describe('the mirror', () => {
  it('repeats the families and nothing else', () => {
    const mirrored = mirrorFamilies({ ...smallest, engineVersion: 1, replay: { supported: false } });

    expect(mirrored.capabilities).toEqual({ limits: smallest.limits, replay: { supported: false } });
    expect(validate(mirrored)).toEqual([]);
    expect(mirrorFamilies(mirrored)).toEqual(mirrored);
  });
});
