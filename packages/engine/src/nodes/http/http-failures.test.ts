import { describe, expect, it } from 'vitest';
import { EgressError, type EgressProblem } from '../../runtime/egress/egress-error.ts';
import { parseRetryAfter, unexpectedStatus, withoutAnswer } from './http-failures.ts';

const answer = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: new Uint8Array(),
});

describe('a request without answer', () => {
  it.each<[EgressProblem, string, boolean]>([
    ['denied', 'egress_denied', false],
    ['invalid_request', 'validation_error', false],
    ['too_large', 'output_too_large', false],
    ['too_many_redirects', 'http_request_failed', false],
    ['network', 'http_request_failed', true],
    ['aborted', 'http_request_failed', true],
  ])('that was %s fails as %s, retryable: %s', (problem, code, retryable) => {
    const error = new EgressError(problem, 'It broke.', { reason: 'why', destination: 'host:80' });

    expect(withoutAnswer(error, 10)).toMatchObject({ code, retryable });
  });
});

describe('an unexpected status', () => {
  it.each([408, 429, 500, 502, 503, 504])('%i is worth another try', (status) => {
    expect(unexpectedStatus(answer(status), 'host:80', 0)).toMatchObject({
      code: 'http_status',
      retryable: true,
      details: { status, destination: 'host:80' },
    });
  });

  it.each([301, 400, 401, 403, 404, 409, 410, 422])('%i is final', (status) => {
    expect(unexpectedStatus(answer(status, { 'retry-after': '5' }), 'host:80', 0)).toMatchObject({
      retryable: false,
      retryAfterMs: undefined,
    });
  });

  it('carries Retry-After', () => {
    expect(unexpectedStatus(answer(503, { 'retry-after': '5' }), 'host:80', 0).retryAfterMs).toBe(5000);
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it.each([
    ['0', 0],
    ['120', 120_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
  ])('reads %j as %s ms', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});
