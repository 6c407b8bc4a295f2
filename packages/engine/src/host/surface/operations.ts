import type { OpenBackup } from '../../ports/store.ts';
import type { Caller } from './caller.ts';
import type { TelemetrySource } from './telemetry.ts';

/** What the operator of a host does and looks at. */
export interface Operations extends RetentionOperations, TelemetrySource {
  /** Why this process should not be sent work: undefined when nothing speaks against it. */
  readiness(): Promise<string | undefined>;
  /** Undefined when new work is welcome; otherwise how many seconds to stay away. */
  overload(tenant: string): { readonly retryAfter: number; readonly cause: string } | undefined;
  /** Open runs that are quarantined, of all tenants. */
  quarantinedRuns(): Promise<number>;
}

export interface RetentionOperations {
  /**
   * Removes a run that has ended, with all that belongs to it; from then on its tenant gets `run_expired`. False when there
   * is none; throws `conflict` while it, or a run that needs it, is running.
   */
  purge(caller: Caller, runId: string): Promise<boolean>;
  /** Removes what only the fold may see of a run that has ended; its public log stays as it is. Answers like `purge`. */
  erase(caller: Caller, runId: string): Promise<boolean>;
  /** How long the tenant's runs are kept after their end. */
  retention(caller: Caller, tenant: string): Promise<Retention>;
  /** `keepMs` null: for ever. */
  setRetention(caller: Caller, tenant: string, keepMs: number | null): Promise<Retention>;
  /** The tenant's runs are kept again as long as the host keeps all others. */
  resetRetention(caller: Caller, tenant: string): Promise<Retention>;
  /** A copy of the whole store, of every tenant, while work continues. The caller closes it. One at a time. */
  backup(caller: Caller): Promise<OpenBackup>;
}

export interface Retention {
  readonly tenant: string;
  /** After the end of a run; null = for ever. */
  readonly keepMs: number | null;
  /** The host's own, because the tenant has none. */
  readonly isDefault: boolean;
}
