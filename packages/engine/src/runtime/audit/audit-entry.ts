import type { JsonObject } from '@weft/protocol';
import type { Caller } from '../../host/host.ts';
import type { AuditEntry } from '../../ports/store.ts';

export interface Act {
  readonly at: number;
  readonly action: string;
  readonly target: string;
  /** Whose it is, where that is not the caller's. */
  readonly tenant?: string;
  readonly details?: JsonObject;
}

/** The audit entry of what a caller does: who it was, with which key, and from where. */
export function auditOf(caller: Caller, { at, action, target, tenant, details }: Act): AuditEntry {
  return {
    at,
    tenant: tenant ?? caller.tenant,
    actor: caller.principal,
    action,
    target,
    details: {
      ...details,
      keyId: caller.keyId,
      ...(caller.address !== undefined && { address: caller.address }),
      ...(tenant !== undefined && tenant !== caller.tenant && { actorTenant: caller.tenant }),
    },
  };
}
