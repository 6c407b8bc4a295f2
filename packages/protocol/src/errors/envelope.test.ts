import { describe, expect, it } from 'vitest';
import { ErrorEnvelopeSchema, toEnvelope } from './envelope.ts';
import { ERRORS, type ErrorCode, HostError } from './errors.ts';
import { compileValidator } from '../validation/validate.ts';

const validate = compileValidator(ErrorEnvelopeSchema);

describe('an error envelope', () => {
  it('renders a host error as itself', () => {
    const error = new HostError('rate_limited', 'Too fast.', { scope: 'key' }, { retryAfter: 3 });

    expect(toEnvelope(error, 'c1')).toEqual({
      status: 429,
      body: { error: 'rate_limited', message: 'Too fast.', details: { scope: 'key' } },
      retryAfter: 3,
    });
  });

  it('never shows what an unexpected error says', () => {
    const { status, body } = toEnvelope(new Error('password is hunter2'), 'c1');

    expect(status).toBe(500);
    expect(body.error).toBe('internal_error');
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(body.details).toEqual({ correlationId: 'c1' });
  });

  it.each([undefined, null, 'text', 7])('survives %j being thrown', (thrown) => {
    expect(validate(toEnvelope(thrown).body)).toEqual([]);
  });

  it('is valid for every code, with and without details', () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      expect(validate(toEnvelope(new HostError(code, '')).body)).toEqual([]);
      expect(validate(toEnvelope(new HostError(code, 'm', { field: 'x' }), 'c').body)).toEqual([]);
    }
  });
});
