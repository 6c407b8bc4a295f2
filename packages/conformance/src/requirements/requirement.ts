import type { GateId } from './gates.ts';
import type { ProfileId } from './profiles.ts';

/** Where requirements are written, by the names that OpenWOP's published documents have. */
export const DOCUMENTS = {
  'conformance-1.0.0': 'The scenarios, fixtures and AsyncAPI document of @openwop/openwop-conformance 1.0.0',
  'debug-bundle': 'spec/v1/debug-bundle.md',
  'rfc-0054': 'RFC 0054: run diff',
  'rfc-0094': 'RFC 0094: wire-shape repair',
  'rest-endpoints': 'spec/v1/rest-endpoints.md',
  auth: 'spec/v1/auth.md and auth-profiles.md',
  capabilities: 'spec/v1/capabilities.md and profiles.md',
  grpc: 'The gRPC transport profile of spec/v1',
  idempotency: 'spec/v1/idempotency.md',
  interrupt: 'spec/v1/interrupt.md and its profiles',
  observability: 'spec/v1/observability.md',
  replay: 'spec/v1/replay.md',
  'run-options': 'spec/v1/run-options.md',
  'stream-modes': 'spec/v1/stream-modes.md',
  'version-negotiation': 'spec/v1/version-negotiation.md',
  webhooks: 'spec/v1/webhooks.md',
  channels: 'spec/v1/channels-and-reducers.md',
  'multi-agent': 'spec/v1/multi-agent documents (RFC 0005–0007)',
  i18n: 'spec/v1/i18n.md',
  rfcs: 'other accepted RFCs, named in the section',
} as const;

export type DocumentId = keyof typeof DOCUMENTS;

export type Level = 'MUST' | 'SHOULD' | 'MAY';

/** One thing that a host must, should or may do. The table of them is what a report is about. */
export interface Requirement {
  readonly document: DocumentId;
  readonly section: string;
  readonly level: Level;
  /** What must be true, in our own words. */
  readonly text: string;
  /** What a host has to advertise for this to concern it; absent: it concerns every host. */
  readonly gate?: GateId;
  /** Profiles of which this is a part: in strict mode it must be proven for them. */
  readonly profiles?: readonly ProfileId[];
  /** Where sources contradict each other: the reading that is proven. */
  readonly reading?: string;
  /** Why no check proves it. A row has either this or a check. */
  readonly notTested?: string;
}

/** Keys are numbered within an area: `DIFF-3`. */
export type RequirementTable = Readonly<Record<string, Requirement>>;
