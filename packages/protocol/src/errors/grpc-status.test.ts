import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from './errors.ts';
import { GRPC_STATUS, grpcStatusOf } from './grpc-status.ts';

describe('the gRPC status of an error', () => {
  it.each<[ErrorCode, keyof typeof GRPC_STATUS]>([
    ['unauthenticated', 'UNAUTHENTICATED'],
    ['key_expired', 'UNAUTHENTICATED'],
    ['key_revoked', 'UNAUTHENTICATED'],
    ['forbidden', 'PERMISSION_DENIED'],
    ['validation_error', 'INVALID_ARGUMENT'],
    ['not_found', 'NOT_FOUND'],
    ['run_already_active', 'ALREADY_EXISTS'],
    ['idempotency_in_flight', 'ABORTED'],
    ['idempotency_key_mismatch', 'ABORTED'],
    ['rate_limited', 'RESOURCE_EXHAUSTED'],
    ['capability_required', 'FAILED_PRECONDITION'],
    ['capability_not_provided', 'FAILED_PRECONDITION'],
    ['internal_error', 'INTERNAL'],
  ])('of %s is %s, as the protocol says', (code, status) => {
    expect(grpcStatusOf(code)).toBe(status);
  });

  it.each(Object.keys(ERRORS) as ErrorCode[])('of %s is one that there is, and no success', (code) => {
    expect(GRPC_STATUS[grpcStatusOf(code)]).toBeGreaterThan(0);
  });
});
