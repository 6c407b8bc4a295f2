import { type ModelContext, type ModelReply, type ModelRequest, NodeFailure } from '@weft/engine';
import { callOptions } from './call-options.ts';
import { condenseEvents } from './condensed-events.ts';
import { egressFetch } from './egress-fetch.ts';
import { type GatheredChunks, gatherChunks } from './gathered-chunks.ts';
import { modelFailure } from './model-failures.ts';
import { createLiveText } from './live-text.ts';
import type { ProviderConfig } from './models-config.ts';
import type { RemoteKind } from './provider-kinds.ts';
import { readStream } from './read-stream.ts';
import type { StreamPace } from './stream-pace.ts';

export interface RemoteCall {
  readonly config: ProviderConfig;
  readonly kind: RemoteKind;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly pace: StreamPace;
}

/** A failure after which another model may be asked in the same attempt: none of the text of this one was shown. */
export class SilentFailure extends NodeFailure {}

/** What comes is in the pace of the host already; this puts together what a library has taken apart. */
const SETTLE_MS = 5;

/** One request to a provider. The libraries neither repeat it nor tell anyone of it. */
export async function askRemote(
  { config, kind, model, apiKey, pace }: RemoteCall,
  request: ModelRequest,
  context: ModelContext,
): Promise<ModelReply> {
  const { name, baseUrl, timeoutMs } = config;
  if (kind.needsKey && apiKey === undefined) throw keyMissing(name);
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, timeout, over.signal]);
  const chunks = gatherChunks(context.emit, SETTLE_MS);
  const live = createLiveText(chunks);
  // To an answer by a schema some providers come over a tool, and what they say next to it is no answer.
  const events = condenseEvents(kind.answers, request.outputSchema === undefined ? live : undefined);
  const fetch = egressFetch({ context, signal, baseUrl, events, pace });
  const reasoning = gatherChunks(({ chunk, isLast }) => context.onReasoning?.(chunk, isLast), SETTLE_MS);
  const ended = context.meter?.begin(() => {
    const usage = events.usage();
    return usage && { provider: name, model, usage };
  });
  try {
    await pace.turn();
    const opened = await kind.open(model, { name, baseUrl, apiKey, fetch });
    const { stream } = await opened.doStream(callOptions(request, signal));
    const reply = await readStream(stream, model, { chunks, live, reasoning });
    ended?.(true);
    return reply;
  } catch (error) {
    reasoning.flush();
    chunks.flush();
    ended?.(false);
    const failure = modelFailure(error, {
      provider: name,
      timeoutMs,
      isAborted: context.signal.aborted,
      isTimedOut: timeout.aborted,
      now: Date.now(),
    });
    throw mayFallBack(failure, [chunks, reasoning], context.signal) ? silent(failure) : failure;
  } finally {
    over.abort();
  }
}

function mayFallBack(failure: NodeFailure, shown: readonly GatheredChunks[], signal: AbortSignal): boolean {
  return failure.retryable && !shown.some(({ hasEmitted }) => hasEmitted) && !signal.aborted;
}

function silent({ code, message, retryable, details, retryAfterMs, cause }: NodeFailure): SilentFailure {
  return new SilentFailure(code, message, {
    retryable,
    cause,
    ...(details !== undefined && { details }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function keyMissing(provider: string): NodeFailure {
  return new NodeFailure(
    'credential_required',
    `The provider "${provider}" needs a key: the operator's in models.providers.${provider}.apiKey, or one of the run in configurable["ai.credentialRef"].`,
    { details: { provider, requirement: 'apiKey' } },
  );
}
