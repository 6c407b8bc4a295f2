/** What a host and the process in which it tries suspect runs say to each other, over the channel between them. */
import type { HostLimits, Store, TrialRequest } from '@weft/engine';

/** The methods of the store that loading a run needs. All others throw: a trial writes nothing. */
export const TRIAL_READS = [
  'readRun',
  'readEvents',
  'readCheckpoint',
  'readInbox',
  'readDefinition',
  'readWorkflow',
  'readDocument',
  'listDocuments',
  'readBlob',
  'readSetting',
] as const satisfies readonly (keyof Store)[];

export type TrialRead = (typeof TRIAL_READS)[number];

/** The first message: what the host decides by. */
export interface TrialSetup {
  readonly kind: 'setup';
  readonly conformance: boolean;
  readonly limits: Partial<HostLimits>;
  readonly secretsKey: Uint8Array;
}

export type ToTrialProcess =
  | TrialSetup
  | ({ readonly kind: 'attempt' } & TrialRequest)
  | { readonly kind: 'read'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'unread'; readonly id: number; readonly message: string };

export type FromTrialProcess =
  | { readonly kind: 'ready' }
  | { readonly kind: 'lived' }
  /** Answered by `read` or `unread`. */
  | { readonly kind: 'ask'; readonly id: number; readonly method: TrialRead; readonly args: unknown[] };
