import { endpointOf } from '@weft/protocol/plain';
import { type ApiPromise, mapped } from '../requests/api-promise.ts';
import type { Transport } from '../requests/transport.ts';

/** A bundle of any OpenWOP host as a run of this one, which can be read, compared and forked, and nothing else. */
export interface ImportedRun {
  readonly runId: string;
  /** The run's id where it was executed. */
  readonly sourceRunId: string;
  readonly status: string;
  /** The bundle carries a digest, and it holds. */
  readonly verified: boolean;
  /** Fingerprint of the key that signed it. */
  readonly signedBy?: string;
  readonly events: number;
  /** Of the original log. */
  readonly totalEvents: number;
  readonly truncated: boolean;
  /** Unless it is present, the run can be shown and compared, but not forked as it is. */
  readonly definition: 'present' | 'missing' | 'unusable';
  /** False when this bundle was imported before. */
  readonly created: boolean;
}

export interface Imports {
  /** The bundle as it was read from its file, parsed. The same one again gives the same run. */
  create(bundle: unknown, options?: { readonly signal?: AbortSignal }): ApiPromise<ImportedRun>;
}

export function createImports(transport: Transport): Imports {
  return {
    create: (bundle, { signal } = {}) =>
      mapped(
        transport.json<Omit<ImportedRun, 'created'>>(endpointOf('importBundle'), { body: bundle, signal }),
        (answer, { status }) => ({ ...answer, created: status === 201 }),
      ),
  };
}
