import type { JsonObject } from '@weft/protocol';
import { MASK } from '../../core/redaction/scan/marks.ts';
import type {
  EffectContext,
  EffectInput,
  EffectNodeType,
  EgressResponse,
  NodeResult,
} from '../../model/node-type.ts';
import { parseDestination } from '../../runtime/egress/destination.ts';
import { EgressError } from '../../runtime/egress/egress-error.ts';
import { resolveOwnUrl } from '../../runtime/egress/own-url.ts';
import { unexpectedStatus, unreadableEncoding, withoutAnswer } from './http-failures.ts';
import {
  buildRequest,
  checkHttpConfig,
  httpRequestConfig,
  isExpected,
  isHidden,
  savedAs,
  type UnsentRequest,
} from './http-request-config.ts';
import { requiredByHeaders, usesSecrets, withSecrets } from './http-request-secrets.ts';
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
  defaultTimeoutMs: 60_000,
  outputPorts: ({ config }) => [
    'output',
    'status',
    'headers',
    savedAs(config) === undefined ? 'body' : 'artifact',
  ],
  prepare: checkHttpConfig,
  dependsOn: () => ['url', 'method', 'headers', 'body'],
  requiresSecrets: requiredByHeaders,
  takesCredentialsRef: true,
  perform: async (input, context) => {
    const built = buildRequest(input, context.invocationId);
    addTrace(built.headers, context);
    const request = usesSecrets(input) ? await withSecrets(built, input, context.secrets) : built;
    let response: EgressResponse;
    try {
      response = await send(request, context);
    } catch (error) {
      if (!(error instanceof EgressError)) throw error; // ours to fix, not the node's to explain
      throw withoutAnswer(error, request.maxResponseBytes, isHidden(input, 'headers'));
    }
    checkAnswer(response, input.config, request);
    const saved = savedAs(input.config);
    if (saved !== undefined) return await saveBody(saved, input, response, context);
    const body = decodeBody(response.body, response.headers['content-type'] ?? '');
    return { outputs: { status: response.status, headers: shownHeaders(response), body, output: body } };
  },
};

function send(request: UnsentRequest, { egress, stop }: EffectContext): Promise<EgressResponse> {
  return egress.fetch({
    url: request.url,
    method: request.method,
    headers: request.headers,
    body: request.body,
    signal: stop,
    maxResponseBytes: request.maxResponseBytes,
    followRedirects: request.followRedirects,
    hidesReceiver: request.hidesReceiver,
  });
}

function checkAnswer(response: EgressResponse, config: JsonObject, request: UnsentRequest): void {
  if (!isExpected(config, response.status)) throw unexpectedStatus(response, receiverOf(request), Date.now());
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && response.body.length > 0) throw unreadableEncoding(receiverOf(request));
}

/** With `saveAs` the body becomes an artifact, and the outputs hold the reference to it instead. */
async function saveBody(
  saved: NonNullable<ReturnType<typeof savedAs>>,
  { nodeId }: EffectInput,
  response: EgressResponse,
  { artifacts }: EffectContext,
): Promise<NodeResult> {
  const { artifactId, mediaType, size, digest } = await artifacts.put({
    ...saved,
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
function addTrace(headers: Record<string, string>, { traceparent }: EffectContext): void {
  if (traceparent !== undefined) headers['traceparent'] ??= traceparent;
}

/** What a message may say of a URL. */
function receiverOf({ url, hidesReceiver }: UnsentRequest): string {
  return hidesReceiver === true ? MASK : parseDestination(resolveOwnUrl(url, 'http://self')).authority;
}

function shownHeaders({ headers }: EgressResponse): JsonObject {
  const shown: Record<string, string> = {};
  for (const name of SHOWN_HEADERS) {
    const value = headers[name];
    if (value !== undefined) shown[name] = value;
  }
  return shown;
}
