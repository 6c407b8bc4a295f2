import type { JsonObject } from '@weft/protocol';
import type { GrpcClient } from '../grpc/grpc-client.ts';
import type { Peers } from '../peers/peers.ts';
import type { RequirementId } from '../areas/requirements.ts';
import type { Expectations } from './expectations.ts';
import type { HostClient } from './host-client.ts';
import type { Launcher } from './launcher.ts';
import type { RunDriver } from './run-driver.ts';

/** Keys in addition to the suite's own; a check that needs one is not tested without it. */
export interface OtherKeys {
  /** Of the same tenant, with `runs:read` and nothing else. */
  readonly lowScope?: string;
  /** Of another tenant, with every scope. */
  readonly otherTenant?: string;
  /** Of the same tenant, bound to a workspace of its own. */
  readonly otherWorkspace?: string;
}

/** Providers of the host by the policy that holds for them, as its operator says; the models of `restricted` are all refused. */
export type PolicyProviders = Readonly<Partial<Record<PolicyMode, string>>>;
export const POLICY_MODES = ['optional', 'disabled', 'required', 'restricted'] as const;
type PolicyMode = (typeof POLICY_MODES)[number];

/** What a check cannot do without. Capabilities are not listed here: they follow from the requirements that it proves. */
export interface Needs {
  readonly fixtures?: readonly string[];
  readonly peer?: keyof Peers;
  /** A provider for each mode of policies. */
  readonly policies?: boolean;
  readonly key?: keyof OtherKeys;
  /** Starts and kills processes of the host (`--launch`). */
  readonly launch?: boolean;
}

/** One look at a host from outside. It passes when nothing it expects is otherwise. */
export interface Check {
  /** `area/what-is-checked`. */
  readonly id: string;
  /** A sentence of the specification. */
  readonly title: string;
  readonly proves: readonly RequirementId[];
  readonly needs?: Needs;
  /** Runs when nothing else does: it loads the host, or is disturbed by load. */
  readonly isAlone?: boolean;
  /** Looks at documents alone and needs no host. */
  readonly isOffline?: boolean;
  readonly timeoutMs?: number;
  readonly run: (context: CheckContext) => Promise<void>;
}

export interface CheckContext {
  readonly discovery: JsonObject;
  readonly host: HostClient;
  readonly runs: RunDriver;
  /** The host over gRPC, where discovery says it is. */
  grpc(): Promise<GrpcClient>;
  readonly expect: Expectations;
  readonly peers: Peers;
  readonly keys: OtherKeys;
  readonly policies: PolicyProviders;
  readonly launcher: Launcher | undefined;
  /** Ends with the check's time. */
  readonly signal: AbortSignal;
  /** Ends the check: the host lacks something optional that no discovery document advertises, such as an endpoint known by its presence. */
  notApplicable(reason: string): never;
  /** A text that no other check and no earlier run of the suite has used. */
  unique(prefix?: string): string;
  /** Asks again until something is there; the claim is what fails when it does not come in time. */
  eventually<Found>(claim: string, ask: () => Promise<Found | undefined>, timeoutMs?: number): Promise<Found>;
}
