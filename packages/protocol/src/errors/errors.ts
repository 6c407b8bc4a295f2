import type { JsonObject } from '../json/json.ts';
import { PACK_ERRORS } from './pack-errors.ts';

/**
 * Every code that can stand in an error envelope, with the status it travels under and what the reader can do about it.
 * One row per code; `docs/reference` is generated from here.
 */
export const ERRORS = {
  validation_error: { status: 400, advice: 'Correct the field named in details and send the request again.' },
  unsupported_stream_mode: {
    status: 400,
    advice: 'Use one of details.supported; values cannot be mixed with other modes.',
  },
  unsupported_force_engine_version: {
    status: 400,
    advice: 'Use a version inside details.min and details.max.',
  },
  unsupported_mock_provider: {
    status: 400,
    advice: 'Use one of the mock providers listed in discovery under testing.mockProviders.',
  },
  webhook_url_rejected: {
    status: 400,
    advice: 'Use an https address that is reachable from the internet, or have the operator allow it.',
  },
  capability_required: {
    status: 400,
    advice: 'This host does not serve details.requiredCapability; remove the node or use another host.',
  },
  schedule_horizon_exceeded: {
    status: 400,
    advice: 'Let the schedule be due within details.maxFutureHorizon.',
  },
  prompt_ref_invalid: {
    status: 400,
    advice:
      'Refer to a template of the library, and to a version that it has: prompt:ID or prompt:ID@VERSION.',
  },
  prompt_variable_unresolved: { status: 400, advice: 'Give a value for the variable in details.variable.' },
  prompt_variable_type_mismatch: {
    status: 400,
    advice: 'Give the variable in details.variable a value of details.type.',
  },
  unauthenticated: { status: 401, advice: 'Send "Authorization: Bearer <key>" with a valid key.' },
  key_expired: { status: 401, advice: 'The key has expired; create a new one.' },
  key_revoked: { status: 401, advice: 'The key was revoked; create a new one.' },
  host_not_allowed: {
    status: 403,
    advice: 'Open the page under a name that the host knows; the operator adds one with --allowed-hosts.',
  },
  sign_in_code_invalid: {
    status: 403,
    advice: 'The sign-in link was used, or its minute is over; get a new one with "weft open".',
  },
  forbidden: { status: 403, advice: 'Use a key that holds details.scopeRequired.' },
  run_forbidden: { status: 403, advice: 'Use a key of the run’s own workspace.' },
  force_engine_version_forbidden: {
    status: 403,
    advice: 'X-Force-Engine-Version needs a test key (a host started with --conformance).',
  },
  mock_provider_forbidden: {
    status: 403,
    advice: 'Mock providers need a test key (a host started with --conformance).',
  },
  not_found: { status: 404, advice: 'Check the id, and that the key belongs to the same tenant.' },
  auth_elevation_required: {
    status: 403,
    advice: 'This question can only be answered with an API key, not through a signed link.',
  },
  subscription_not_found: {
    status: 404,
    advice: 'Check the id of the webhook, and that the key belongs to the same tenant.',
  },
  node_type_conflict: {
    status: 409,
    advice: 'A version names one set of schemas for ever; raise the version of the node type.',
  },
  insecure_transport: {
    status: 403,
    advice: 'Node types that declare secrets are served over loopback or TLS only.',
  },
  method_not_allowed: { status: 405, advice: 'Use one of the methods in the Allow header.' },
  interrupt_not_found: {
    status: 404,
    advice: 'The run has no such question; see its snapshot for the open ones.',
  },
  interrupt_already_resolved: {
    status: 409,
    advice: 'The question has been answered; nothing is left to do.',
  },
  interrupt_expired: { status: 410, advice: 'The link has expired; read the run again for a new one.' },
  interrupt_gone: { status: 410, advice: 'The run was cancelled, and the question with it.' },
  expression_budget_exceeded: {
    status: 422,
    advice:
      'The expression takes more work or memory than details.limit; look at less data, or divide it among several nodes.',
  },
  pattern_too_costly: {
    status: 422,
    advice:
      'The pattern, or testing it on this text, is over details.limit; use smaller repetition counts or a shorter text.',
  },
  schema_too_large: {
    status: 422,
    advice: 'The schema, or validating the value against it, is over details.limit; use a simpler schema.',
  },
  correlation_mismatch: {
    status: 422,
    advice: 'Send the values the question waits for under the names in details.correlation.',
  },
  fork_out_of_range: {
    status: 422,
    advice: 'Fork from a sequence that the run’s log has; details.max is the last one.',
  },
  fork_incompatible: {
    status: 422,
    advice: 'Fork earlier, or use a version of the workflow that still has the node in details.nodeId.',
  },
  sequence_out_of_range: {
    status: 422,
    advice: 'Ask for a sequence that the run’s log has; details.max is the last one.',
  },
  bundle_invalid: {
    status: 422,
    advice: 'Get the bundle again from its host; details.field points to what cannot be right.',
  },
  definition_missing: {
    status: 422,
    advice: 'Register the workflow and fork with its workflowVersion.',
  },
  values_missing: {
    status: 422,
    advice: 'Send the values named in details.missing; the bundle that was imported does not hold them.',
  },
  conflict: {
    status: 409,
    advice: 'The resource is not in a state that allows this; details say which state it is in.',
  },
  run_already_active: {
    status: 409,
    advice: 'Wait for details.activeRunId to end, or cancel it, or use another scopeId.',
  },
  run_terminal: { status: 409, advice: 'The run has ended; start a new one.' },
  idempotency_in_flight: {
    status: 409,
    advice: 'The first request with this key is still running; retry after details.retryAfter seconds.',
  },
  idempotency_key_mismatch: { status: 409, advice: 'This key was used with another request; use a new key.' },
  workflow_version_exists: {
    status: 409,
    advice: 'This version holds other content; raise "version" and register again.',
  },
  schedule_exists: { status: 409, advice: 'Remove the schedule of this name first, or choose another name.' },
  run_expired: { status: 410, advice: 'The run was removed by the retention policy.' },
  payload_too_large: { status: 413, advice: 'Send less than details.maxRequestBodyBytes bytes.' },
  answer_too_large: {
    status: 413,
    advice:
      'Over gRPC an answer is one message of at most details.limit bytes; ask for less, or over HTTP, where it is streamed.',
  },
  unsupported_encoding: {
    status: 415,
    advice: 'Send the body as it is, or packed in one of the ways in details.supported.',
  },
  rate_limited: { status: 429, advice: 'Wait Retry-After seconds and try again.' },
  internal_error: {
    status: 500,
    advice: 'The host failed; its log has the cause under details.correlationId.',
  },
  run_damaged: {
    status: 500,
    advice: 'The stored data of this run is damaged; restore a backup, or cancel the run.',
  },
  capability_not_provided: { status: 501, advice: 'This host does not offer details.capability.' },
  service_unavailable: {
    status: 503,
    advice: 'The host is at capacity; wait Retry-After seconds and try again.',
  },
  dead_letters_full: {
    status: 503,
    advice: 'Replay or remove dead letters of details.source; until then nothing more can be kept.',
  },
  engine_version_mismatch: { status: 503, advice: 'The run was written by a newer host; upgrade this one.' },
  ...PACK_ERRORS,
} as const satisfies Record<string, { status: number; advice: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Failures that pass: their answers can say in Retry-After when to try again. */
export const RETRY_LATER: readonly ErrorCode[] = [
  'rate_limited',
  'service_unavailable',
  'idempotency_in_flight',
  'run_already_active',
];

/** What an operation answers that holds a value against a client's schema. */
export const COST_ERRORS = ['schema_too_large', 'pattern_too_costly'] as const satisfies readonly ErrorCode[];

/** A failure that a client may see. Its code decides the status; its details must hold no secret. */
export class HostError extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject | undefined;
  /** Seconds for the Retry-After header. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details?: JsonObject,
    options?: { cause?: unknown; retryAfter?: number },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'HostError';
    this.code = code;
    this.details = details;
    this.retryAfter = options?.retryAfter;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

export function isHostError(error: unknown, code?: ErrorCode): error is HostError {
  return error instanceof HostError && (code === undefined || error.code === code);
}
