import type { Json } from '@weft/protocol';
import type { RunStatus } from '../../model/run-state.ts';
import type { Caller } from './caller.ts';

export interface Bundles {
  /**
   * The run as one document to carry away, as JSON text in pieces that are made as they are asked for. Undefined when the
   * caller may not see the run.
   */
  text(caller: Caller, runId: string, request?: BundleRequest): Promise<AsyncIterable<string> | undefined>;
}

export interface Imports {
  /**
   * A bundle of any OpenWOP host becomes a run that is only read here. The same bundle again is the same run. Throws HostError
   * `bundle_invalid` with the reason, and then nothing was written.
   */
  create(caller: Caller, bundle: Json): Promise<ImportedRun>;
}

export interface BundleRequest {
  /** Only the first events of the log. */
  readonly maxEvents?: number;
}

export interface ImportedRun {
  /** False when this bundle was imported before. */
  readonly created: boolean;
  readonly runId: string;
  /** Where it was executed. */
  readonly sourceRunId: string;
  readonly status: RunStatus;
  /** The bundle's digest was checked. */
  readonly verified: boolean;
  /** The bundle's signature was checked, too: fingerprint of its key. */
  readonly signedBy?: string;
  readonly events: number;
  /** Of the original log. */
  readonly totalEvents: number;
  readonly truncated: boolean;
  /** Without one that this host can run, the run can be shown and compared, but not forked as it is. */
  readonly definition: 'present' | 'missing' | 'unusable';
}
