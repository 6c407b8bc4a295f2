import type { DebugBundle } from '@weft/protocol';
import { ConnectionError } from './errors.ts';
import type { Transport } from './transport.ts';

export interface BundleOptions {
  /** Only the first events of the log. */
  readonly maxEvents?: number;
  readonly signal?: AbortSignal;
}

/** A run as one document to carry away, without its secrets and inputs. */
export interface Bundles {
  get(runId: string, options?: BundleOptions): Promise<DebugBundle>;
  /** The same as the text the host sends, piece by piece. Leave the loop to stop the host's work. */
  text(runId: string, options?: BundleOptions): Promise<AsyncIterable<string>>;
}

export function createBundles(transport: Transport): Bundles {
  return {
    get: (runId, options = {}) => transport.json('GET', bundlePath(runId), callOf(options)),
    async text(runId, options = {}) {
      const response = await transport.open('GET', bundlePath(runId), callOf(options));
      return piecesOf(response, new URL(transport.url(bundlePath(runId))).origin, options.signal);
    },
  };
}

function bundlePath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}/debug-bundle`;
}

function callOf({ maxEvents, signal }: BundleOptions) {
  return { query: { maxEvents }, signal };
}

async function* piecesOf(
  response: Response,
  origin: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const part = await reader.read();
      if (part.done) return;
      yield decoder.decode(part.value, { stream: true });
    }
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new ConnectionError(origin, 'The connection broke while the bundle was read', { cause });
  } finally {
    await reader.cancel().catch(() => undefined); // already broken is as good as closed
  }
}
