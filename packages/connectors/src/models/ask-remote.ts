import { type ModelContext, type ModelReply, type ModelRequest, NodeFailure, type Usage } from '@weft/engine';
import { callOptions } from './call-options.ts';
import { egressFetch } from './egress-fetch.ts';
import { type GatheredChunks, gatherChunks } from './gathered-chunks.ts';
import { modelFailure } from './model-failures.ts';
import type { ProviderConfig } from './models-config.ts';
import type { RemoteKind } from './provider-kinds.ts';
import { readStream } from './read-stream.ts';

export interface RemoteCall {
  readonly config: ProviderConfig;
  readonly kind: RemoteKind;
  readonly model: string;
  readonly apiKey: string | undefined;
}

/** A failure after which another model may be asked in the same attempt: none of the text of this one was shown. */
export class SilentFailure extends NodeFailure {}

/** One request to a provider. The libraries neither repeat it nor tell anyone of it. */
export async function askRemote(
  { config, kind, model, apiKey }: RemoteCall,
  request: ModelRequest,
  context: ModelContext,
): Promise<ModelReply> {
  const { name, baseUrl, timeoutMs } = config;
  if (kind.needsKey && apiKey === undefined) throw keyMissing(name);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  const fetch = egressFetch({ context, signal, baseUrl });
  const chunks = gatherChunks(context.emit);
  let used: Usage | undefined;
  try {
    const opened = await kind.open(model, { name, baseUrl, apiKey, fetch });
    const { stream } = await opened.doStream(callOptions(request, signal));
    return await readStream(stream, model, chunks, (usage) => {
      used = usage;
    });
  } catch (error) {
    chunks.breakOff();
    // Without a count nothing is known of what it used.
    if (used !== undefined && used.totalTokens > 0)
      context.meter?.spent({ provider: name, model, usage: used });
    const failure = modelFailure(error, {
      provider: name,
      timeoutMs,
      isAborted: context.signal.aborted,
      isTimedOut: timeout.aborted,
      now: Date.now(),
    });
    throw mayFallBack(failure, chunks, context.signal) ? silent(failure) : failure;
  }
}

function mayFallBack(failure: NodeFailure, chunks: GatheredChunks, signal: AbortSignal): boolean {
  return failure.retryable && !chunks.hasEmitted && !signal.aborted;
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
