import type { Triggers } from '../../host/host.ts';
import type { SecretResolver } from '../../ports/secrets.ts';
import type { Store } from '../../ports/store.ts';
import type { Idempotency } from '../commits/idempotency.ts';
import type { Sealer } from '../secrets/sealer.ts';
import { createDeliveryRate } from './delivery-rate.ts';
import { createIngesting, type IngestDependencies, type Ingesting } from './ingest.ts';
import { createManageTriggers } from './manage-triggers.ts';
import type { Mappings } from './mapping.ts';
import { createTenantCounter } from './tenant-counter.ts';

export interface CreateTriggersDependencies
  extends Omit<IngestDependencies, 'store' | 'rate' | 'tenantSecret' | 'sealing'> {
  readonly store: Store;
  readonly idempotency: Idempotency;
  readonly mappings: Mappings;
  readonly secrets: SecretResolver;
  readonly sealer?: Sealer | undefined;
}

export interface TriggerParts extends Pick<Ingesting, 'redeliver' | 'replay'> {
  readonly triggers: Triggers;
}

/** Everything that makes runs start by what is delivered, put together. */
export function createTriggers(dependencies: CreateTriggersDependencies): TriggerParts {
  const { store, limits, clock, secrets, sealer } = dependencies;
  const counter = createTenantCounter(store, {
    id: 'triggers',
    limit: limits.maxTriggers,
    limitName: 'max-triggers',
  });
  const { ingest, redeliver, replay } = createIngesting({
    ...dependencies,
    sealing: sealer,
    rate: createDeliveryRate(limits.deliveriesPerMinute, clock),
    async tenantSecret(tenant, secretId) {
      const resolution = await secrets.resolve({ tenant, principal: undefined }, secretId);
      return resolution.state === 'resolved' ? resolution.value : undefined;
    },
  });
  const managed = createManageTriggers({ ...dependencies, counter, sealing: sealer });
  return { triggers: { ...managed, ingest }, redeliver, replay };
}
