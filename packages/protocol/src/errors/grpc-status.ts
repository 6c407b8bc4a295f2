import { ERRORS, type ErrorCode } from './errors.ts';

/** The status codes of gRPC that answers of this host have. */
export const GRPC_STATUS = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

type StatusName = keyof typeof GRPC_STATUS;

/** What the error envelope is called among the details of a status. */
export const ENVELOPE_TYPE = 'openwop.dev/spec/v1/ErrorEnvelope';

/** Codes that the protocol maps itself, where their HTTP status would say something else. */
const BY_CODE: Partial<Record<ErrorCode, StatusName>> = {
  run_already_active: 'ALREADY_EXISTS',
  idempotency_in_flight: 'ABORTED',
  idempotency_key_mismatch: 'ABORTED',
  capability_required: 'FAILED_PRECONDITION',
  capability_not_provided: 'FAILED_PRECONDITION',
};

/** The others follow their HTTP status. */
const BY_STATUS: Readonly<Record<(typeof ERRORS)[ErrorCode]['status'], StatusName>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'FAILED_PRECONDITION',
  410: 'NOT_FOUND',
  413: 'RESOURCE_EXHAUSTED',
  415: 'INVALID_ARGUMENT',
  422: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
};

/** The name of the gRPC status under which an error travels. */
export function grpcStatusOf(code: ErrorCode): StatusName {
  return BY_CODE[code] ?? BY_STATUS[ERRORS[code].status];
}
