import type { JsonObject, WorkflowDefinition } from '@weft/protocol';
import type { Listed, Page } from '../../ports/store.ts';
import type { Caller } from './caller.ts';

export interface Workflows {
  register(caller: Caller, definition: unknown, options: RegisterOptions): Promise<Registration>;
  /** Every problem at once; writes nothing. `alongside`: ids of workflows that will be registered, too. */
  check(definition: unknown, tenant?: string, alongside?: ReadonlySet<string>): Promise<WorkflowReport>;
  get(caller: Caller, id: string, version?: string): Promise<WorkflowDefinition | undefined>;
  list(caller: Caller, page: Page): Promise<Listed<WorkflowSummary>>;
  /**
   * Registers a definition, or holds it until workers have served the node types it names; in development also registers it again when
   * they have newer versions. `onNews` is called when its state changes later. Throws as `register` does.
   */
  keep(
    caller: Caller,
    definition: unknown,
    options: RegisterOptions,
    onNews: (outcome: KeptOutcome) => void,
  ): Promise<KeptOutcome>;
  /** Definitions that this process holds. */
  waiting(caller: Caller): readonly WaitingDefinition[];
}

export type KeptOutcome =
  | { readonly state: 'registered'; readonly registration: Registration }
  | { readonly state: 'waiting'; readonly types: readonly string[] }
  | { readonly state: 'refused'; readonly errors: readonly WorkflowProblem[] };

export interface WaitingDefinition {
  readonly id: string;
  readonly version: string;
  /** Ids of node types. */
  readonly waitingFor: readonly string[];
}

export interface RegisterOptions {
  /** A trigger, child workflow or language model that this host does not have is an error instead of a warning. */
  readonly strict: boolean;
  /** A changed definition under the same version is registered as VERSION+<8 hex>. */
  readonly dev: boolean;
  /** Ids of workflows that are being registered, too: children among them are not missing. */
  readonly alongside?: ReadonlySet<string>;
}

export interface Registration {
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly created: boolean;
  readonly warnings: readonly WorkflowProblem[];
}

/** One thing wrong (or doubtful) in a definition, with the JSON Pointer of the place. */
export interface WorkflowProblem {
  readonly path: string;
  readonly message: string;
  readonly code: string;
  /** Of a text that costs too much: the limit, and what was observed. */
  readonly details?: JsonObject;
}

export interface WorkflowReport {
  readonly errors: readonly WorkflowProblem[];
  readonly warnings: readonly WorkflowProblem[];
  /** Nodes whose type workers serve, and the version each would use. */
  readonly pinned: readonly PinnedType[];
}

export interface PinnedType {
  /** JSON Pointer of the node. */
  readonly path: string;
  readonly typeId: string;
  readonly version: string;
}

export interface WorkflowSummary {
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly digest: string;
  readonly registeredAt: number;
  readonly nodes: number;
  /** Runs that name no version get this one. */
  readonly current: boolean;
}
