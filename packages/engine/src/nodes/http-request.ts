import type { JsonObject } from '@weft/protocol';
import type {
  EffectContext,
  EffectInput,
  EffectNodeType,
  EgressRequest,
  EgressResponse,
  NodeResult,
} from '../node-type.ts';
import { parseDestination } from '../runtime/egress/destination.ts';
import { EgressError } from '../runtime/egress/egress-error.ts';
import { unexpectedStatus, unreadableEncoding, withoutAnswer } from './http-failures.ts';
import {
  buildRequest,
  checkHttpConfig,
  httpRequestConfig,
  isExpected,
  savedName,
} from './http-request-config.ts';
import { requiredByHeaders, withSecrets } from './http-request-secrets.ts';
import { decodeBody } from './http-response-body.ts';

/** Other response headers may hold session cookies and the like, and stay out of the log. */
const SHOWN_HEADERS = ['content-type', 'etag', 'last-modified', 'location', 'retry-after'];

export const httpRequestNode: EffectNodeType = {
  kind: 'effect',
  typeId: 'core.http.request',
  title: 'HTTP request',
  summary:
    'Sends one HTTP request, with the invocation id as idempotency key, and outputs status, headers and body.',
  config: httpRequestConfig,
  prepare: checkHttpConfig,
  requiresSecrets: requiredByHeaders,
  takesCredentialsRef: true,
  perform: async (input, context) => {
    const request = withTrace(buildRequest(input, context.invocationId), context.traceparent);
    const response = await send(await withSecrets(request, input, context.secrets), context);
    if (!isExpected(input.config, response.status)) {
      throw unexpectedStatus(response, authorityOf(request.url), Date.now());
    }
    const encoding = response.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity' && response.body.length > 0)
      throw unreadableEncoding(authorityOf(request.url));

    const saved = await saveBody(input, response, context);
    if (saved !== undefined) return saved;
    const body = decodeBody(response.body, response.headers['content-type'] ?? '');
    return { outputs: { status: response.status, headers: shownHeaders(response), body, output: body } };
  },
};

/** With `saveAs` the body becomes an artifact, and the outputs hold the reference to it instead. */
async function saveBody(
  { nodeId, config }: EffectInput,
  response: EgressResponse,
  { artifacts }: EffectContext,
): Promise<NodeResult | undefined> {
  const name = savedName(config);
  if (name === undefined) return undefined;
  const { artifactId, mediaType, size, digest } = await artifacts.put({
    name,
    mediaType: response.headers['content-type'] ?? '',
    bytes: response.body,
  });
  const artifact = { artifactId, mediaType, size, digest };
  return {
    outputs: { status: response.status, headers: shownHeaders(response), artifact, output: artifact },
    events: [{ type: 'artifact.created', payload: { artifactId, artifactType: mediaType, nodeId } }],
  };
}

/** The receiver's spans then stand below this attempt; a traceparent that the workflow sets itself is left alone. */
function withTrace<Request extends Pick<EgressRequest, 'headers'>>(
  request: Request,
  traceparent: string | undefined,
): Request {
  if (traceparent === undefined || request.headers['traceparent'] !== undefined) return request;
  return { ...request, headers: { ...request.headers, traceparent } };
}

/** What a message may say of a URL. */
function authorityOf(url: string): string {
  return parseDestination(url).authority;
}

async function send(
  request: Omit<EgressRequest, 'signal'>,
  { egress, signal }: EffectContext,
): Promise<EgressResponse> {
  try {
    return await egress.fetch({ ...request, signal });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error; // ours to fix, not the node's to explain
    throw withoutAnswer(error, request.maxResponseBytes);
  }
}

function shownHeaders({ headers }: EgressResponse): JsonObject {
  return Object.fromEntries(
    SHOWN_HEADERS.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
