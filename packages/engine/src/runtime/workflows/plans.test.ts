import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../host/limits.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { EffectNodeType } from '../../model/node-type.ts';
import { chargeType, objectSchema, registryOn } from '../node-types/testing/known-types.ts';
import { alice, startHost, stranger } from '../testing/test-host.ts';
import { createCompile, ownNodeTypes } from './create-compile.ts';
import { createPlans } from './plans.ts';

const LAX = { strict: false, dev: false };

describe('plans that are made again', () => {
  it('use the types of their tenant, and are shared where they use none (N-4)', async () => {
    const store = openMemoryStore();
    const types = registryOn(store);
    await types.register(alice, [chargeType()], { dev: false });
    await types.register(
      stranger,
      [chargeType({ inputs: objectSchema({ amount: {} }), secrets: ['stripe'] })],
      {
        dev: false,
      },
    );
    const at = await startHost({ store });
    const inputs = { amount: { type: 'static', value: 1 } };
    const theirs = { id: 'shop', version: '1', nodes: [{ id: 'charge', typeId: 'acme.charge', inputs }] };
    const plain = { id: 'plain', version: '1', nodes: [{ id: 'a', typeId: 'core.noop' }] };
    const { digest } = await at.host.workflows.register(alice, theirs, LAX);
    await at.host.workflows.register(stranger, theirs, LAX);
    const shared = await at.host.workflows.register(alice, plain, LAX);
    await at.host.stop(0);

    const options = { store, version: '0' };
    const plans = createPlans(
      store,
      createCompile(options, DEFAULT_LIMITS, {
        own: ownNodeTypes(options),
        ofUsers: types,
        agents: { find: () => Promise.resolve(undefined) },
      }),
    );
    const typeFor = async (tenant: string): Promise<EffectNodeType['servedBy']> => {
      const type = (await plans.get(digest, tenant)).nodes.get('charge')?.type;
      return type?.kind === 'effect' ? type.servedBy : undefined;
    };

    const [mine, other] = [await typeFor('default'), await typeFor('other')];
    expect([mine?.secrets, other?.secrets]).toEqual([[], ['stripe']]);
    expect(mine?.digest).not.toBe(other?.digest);
    expect((await typeFor('default'))?.digest).toBe(mine?.digest);
    expect(await plans.get(shared.digest, 'other')).toBe(await plans.get(shared.digest, 'default'));
  });
});
