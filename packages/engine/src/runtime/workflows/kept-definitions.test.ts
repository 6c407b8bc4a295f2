import { isHostError, type JsonObject } from '@weft/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KeptOutcome } from '../../host/host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { chargeType, objectSchema, registryOn } from '../node-types/testing/known-types.ts';
import type { NodeTypes } from '../node-types/node-types.ts';
import { alice, startHost, stranger, type TestHost } from '../testing/test-host.ts';

const LAX = { strict: false, dev: false };
const DEV = { strict: false, dev: true };

let at: TestHost;
let types: NodeTypes;
let news: KeptOutcome[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const store = openMemoryStore();
  at = await startHost({ store });
  types = registryOn(store);
  news = [];
});

afterEach(async () => {
  await at.host.stop(0);
  vi.useRealTimers();
});

function workflow(over: JsonObject = {}): JsonObject {
  return {
    id: 'shop',
    version: '1.0.0',
    nodes: [{ id: 'charge', typeId: 'acme.charge', inputs: { amount: { type: 'static', value: 1 } } }],
    ...over,
  };
}

const keep = (definition: unknown, options = LAX): Promise<KeptOutcome> =>
  at.host.workflows.keep(alice, definition, options, (outcome) => news.push(outcome));

/** The next look at what waits. */
async function look(): Promise<void> {
  await vi.advanceTimersByTimeAsync(2_000);
}

describe('a definition that is kept registered', () => {
  it('is registered at once when its types are known', async () => {
    await types.register(alice, [chargeType()], { dev: false });

    expect(await keep(workflow())).toMatchObject({ state: 'registered', registration: { id: 'shop' } });
    expect(at.host.workflows.waiting(alice)).toEqual([]);
  });

  it('is held until its types are known (N-5)', async () => {
    expect(await keep(workflow())).toEqual({ state: 'waiting', types: ['acme.charge'] });
    expect(at.host.workflows.waiting(alice)).toEqual([
      { id: 'shop', version: '1.0.0', waitingFor: ['acme.charge'] },
    ]);
    expect(at.host.workflows.waiting(stranger)).toEqual([]);
    await look();
    expect(news).toEqual([]);

    await types.register(alice, [chargeType()], { dev: false });
    await look();

    await vi.waitFor(() =>
      expect(news).toMatchObject([{ state: 'registered', registration: { created: true } }]),
    );
    expect(at.host.workflows.waiting(alice)).toEqual([]);
    expect(await at.host.workflows.get(alice, 'shop')).toBeDefined();
  });

  it('is held for a version, too', async () => {
    await types.register(alice, [chargeType()], { dev: false });
    const later = workflow();
    later['nodes'] = [
      {
        id: 'charge',
        typeId: 'acme.charge',
        inputs: { amount: { type: 'static', value: 1 } },
        settings: { typeVersion: '2.0.0' },
      },
    ];

    expect(await keep(later)).toEqual({ state: 'waiting', types: ['acme.charge'] });
  });

  it('is refused for other mistakes, at once or when its types are known', async () => {
    const both = workflow({ edges: [{ id: 'e', sourceNodeId: 'charge', targetNodeId: 'nowhere' }] });
    expect(await keep(both)).toMatchObject({ state: 'refused' });
    expect(await keep(workflow({ nodes: [{ id: 'a', typeId: 'core.nop' }] }))).toMatchObject({
      state: 'refused',
    });

    await keep(workflow());
    await types.register(alice, [chargeType({ inputs: objectSchema({ sum: {} }) })], { dev: false });
    await look();

    await vi.waitFor(() =>
      expect(news).toMatchObject([{ state: 'refused', errors: [{ code: 'unknown_port' }] }]),
    );
    expect(at.host.workflows.waiting(alice)).toEqual([]);
  });

  it('is refused as ever when its version has other content', async () => {
    await keep(workflow({ nodes: [{ id: 'a', typeId: 'core.noop' }] }));

    const error: unknown = await keep(workflow({ nodes: [{ id: 'b', typeId: 'core.noop' }] })).catch(
      (thrown: unknown) => thrown,
    );

    expect(isHostError(error, 'workflow_version_exists')).toBe(true);
  });

  it('gets newer versions of its types in development alone', async () => {
    await types.register(alice, [chargeType()], { dev: false });
    await keep(workflow({ id: 'fixed' }));
    await keep(workflow(), DEV);

    await types.register(alice, [chargeType({ version: '1.1.0' })], { dev: false });
    await look();

    await vi.waitFor(() => expect(news).toHaveLength(1));
    expect(news).toMatchObject([
      { registration: { id: 'shop', version: expect.stringMatching(/^1\.0\.0\+[0-9a-f]{8}$/) as unknown } },
    ]);
    const pin = async (id: string): Promise<unknown> =>
      (await at.host.workflows.get(alice, id))?.nodes[0]?.settings?.typeVersion;
    expect([await pin('shop'), await pin('fixed')]).toEqual(['1.1.0', '1.0.0']);
    await look();
    expect(news).toHaveLength(1);
  });
});

describe('the list of node types', () => {
  it('has those of the host with their schemas and ports, and those of the tenant', async () => {
    await types.register(alice, [chargeType(), chargeType({ version: '1.1.0', secrets: ['stripe'] })], {
      dev: false,
    });

    const listed = await at.host.nodeTypes.list(alice);

    expect(listed.find(({ typeId }) => typeId === 'core.delay')).toMatchObject({
      builtin: true,
      config: { type: 'object', additionalProperties: false },
      inputs: { properties: { delayMs: {} } },
      outputs: { type: 'object' },
    });
    expect(await at.host.nodeTypes.list(alice, 'acme.charge')).toEqual([
      expect.objectContaining({ version: '1.0.0', builtin: false, inputs: chargeType().inputs }),
      expect.objectContaining({ version: '1.1.0', secrets: ['stripe'] }),
    ]);
    expect(await at.host.nodeTypes.list(stranger, 'acme.charge')).toEqual([]);
  });
});
