import { toEnvelope } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { ConnectionLostError, meaningOf } from './errors.ts';
import { reasonNotOpened } from './connect-errors.ts';

describe('a lost connection', () => {
  const lost = new ConnectionLostError('PostgreSQL cannot be reached: ECONNREFUSED');

  it('sends a client that reads away with the advice to come back, and without the cause', () => {
    const { status, body, retryAfter } = toEnvelope(lost);

    expect(status).toBe(503);
    expect(retryAfter).toBe(2);
    expect(JSON.stringify(body)).not.toContain('ECONNREFUSED');
  });

  it('explains to the operator what happened', () => {
    expect(reasonNotOpened(lost)).toContain('ECONNREFUSED');
  });

  it('leaves the outcome of a write open', () => {
    expect(meaningOf(lost)).toBe('lost');
  });
});
