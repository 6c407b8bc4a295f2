import { type DebugBundle, endpointOf } from '@weft/protocol/plain';
import type { ApiPromise } from '../requests/api-promise.ts';
import { textPieces } from '../requests/text-pieces.ts';
import type { Transport } from '../requests/transport.ts';

export interface BundleOptions {
  /** Only the first events of the log. */
  readonly maxEvents?: number;
  readonly signal?: AbortSignal;
}

/** A run as one document to carry away, without its secrets and inputs. */
export interface Bundles {
  get(runId: string, options?: BundleOptions): ApiPromise<DebugBundle>;
  /** The same as the text the host sends, piece by piece. Leave the loop to stop the host's work. */
  text(runId: string, options?: BundleOptions): Promise<AsyncIterable<string>>;
}

export function createBundles(transport: Transport): Bundles {
  return {
    get: (runId, options = {}) => transport.json(endpointOf('getDebugBundle', { runId }), callOf(options)),
    async text(runId, options = {}) {
      const response = await transport.open(endpointOf('getDebugBundle', { runId }), callOf(options));
      return textPieces(response, transport.origin, options.signal);
    },
  };
}

function callOf({ maxEvents, signal }: BundleOptions) {
  return { query: { maxEvents }, signal };
}
