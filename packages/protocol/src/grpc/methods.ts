import { type TSchema, Type } from 'typebox';
import { count, nonEmpty, open } from '../documents/schema-parts.ts';
import type { OperationId } from '../routes/endpoints.ts';

/** The service of the protocol: a method per operation, under the operation's name in Pascal case. */
export const GRPC_PACKAGE = 'openwop.v1';
export const GRPC_SERVICE = `${GRPC_PACKAGE}.Engine`;

/** A member of a request: a field of its message, and where the same thing stands in an HTTP request. */
export interface RequestField {
  readonly field: string;
  readonly place: 'path' | 'query' | 'header' | 'body';
  /** Its name at that place. */
  readonly name: string;
  readonly schema: TSchema;
  readonly isRequired: boolean;
  readonly description?: string;
}

export interface GrpcMethod {
  readonly operationId: OperationId;
  /** The answer is a stream of messages. */
  readonly isStream?: true;
  /** In place of what the operation answers over HTTP. */
  readonly response?: TSchema;
  /** In place of what its path, query and body say. */
  readonly request?: readonly RequestField[];
  /** Query parameters that no message has, because another one says the same. */
  readonly leftOut?: readonly string[];
}

const INT32 = { minimum: 0, maximum: 2_147_483_647, format: 'int32' } as const;

/** As the protocol numbers and types them; REST has the same in its query and in Last-Event-ID. */
const STREAM_REQUEST: readonly RequestField[] = [
  { field: 'run_id', place: 'path', name: 'runId', schema: nonEmpty, isRequired: true },
  {
    field: 'last_sequence',
    place: 'header',
    name: 'last-event-id',
    schema: Type.Integer(),
    isRequired: false,
    description: 'The last sequence that was seen. Unset, or -1: from the first event.',
  },
  {
    field: 'stream_modes',
    place: 'query',
    name: 'streamMode',
    schema: Type.Array(Type.String()),
    isRequired: false,
    description: 'values, or any of updates, messages and debug. Default: updates.',
  },
  {
    field: 'buffer_ms',
    place: 'query',
    name: 'bufferMs',
    schema: Type.Integer(INT32),
    isRequired: true,
    description: 'Gathers what comes within so many milliseconds into one batch.',
  },
];

/** The bytes of an artifact, and what HTTP says about them in headers. */
export const ArtifactMessageSchema = open({
  mediaType: nonEmpty,
  name: Type.String(),
  size: count,
  digest: Type.String({ description: 'SHA-256 of the content, hex.' }),
  content: Type.String({ contentEncoding: 'base64' }),
});

export const GRPC_METHODS: readonly GrpcMethod[] = [
  { operationId: 'getCapabilities' },
  { operationId: 'getWorkflow' },
  { operationId: 'createRun' },
  { operationId: 'getRun' },
  { operationId: 'streamRunEvents', isStream: true, request: STREAM_REQUEST },
  { operationId: 'cancelRun' },
  { operationId: 'bulkCancelRuns' },
  { operationId: 'pauseRun' },
  { operationId: 'resumeRun' },
  { operationId: 'forkRun' },
  { operationId: 'resolveInterruptByRun' },
  { operationId: 'resolveInterruptByToken' },
  { operationId: 'inspectInterruptByToken' },
  { operationId: 'getArtifact', response: ArtifactMessageSchema },
  { operationId: 'registerWebhook' },
  { operationId: 'unregisterWebhook' },
  { operationId: 'verifyAuditLog' },
  { operationId: 'diffRun' },
  { operationId: 'getDebugBundle', leftOut: ['host.weft.maxEvents'] },
];

export function methodName(operationId: OperationId): string {
  return operationId.charAt(0).toUpperCase() + operationId.slice(1);
}
