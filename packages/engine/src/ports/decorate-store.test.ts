import { expect, it } from 'vitest';
import { chain, node } from '../core/testing/definitions.ts';
import { openMemoryStore, type MemoryStoreOptions } from '../memory-store/memory-store.ts';
import { startHost, until } from '../runtime/testing/test-host.ts';
import { storeContract } from '../store-contract/store-contract.ts';
import { decorateStore } from './decorate-store.ts';
import type { Store } from './store.ts';

type Methods = Readonly<Record<string, (...asked: unknown[]) => unknown>>;

/** A store as a class: its methods stand on the prototype, and work only when they are called on it. */
class PrivateStore {
  readonly #inner: Methods;

  constructor(options: MemoryStoreOptions = {}) {
    this.#inner = openMemoryStore(options) as unknown as Methods;
  }

  static {
    for (const name of Object.keys(openMemoryStore())) {
      Object.defineProperty(PrivateStore.prototype, name, {
        value(this: PrivateStore, ...asked: unknown[]) {
          return this.#inner[name]?.(...asked);
        },
      });
    }
  }
}

function openClass(options?: MemoryStoreOptions): Store {
  return new PrivateStore(options) as unknown as Store;
}

storeContract('a class', { open: async (options) => openClass(options) });
storeContract('a decorated class', { open: async (options) => decorateStore(openClass(options), {}) });

it('a host runs on a store that is a class', async () => {
  const { host, effects, register, run, status } = await startHost({ store: openClass() });
  const workflowId = await register({
    nodes: [node('a'), node('b', 'test.effect')],
    edges: chain('a', 'b'),
  });

  const runId = await run(workflowId);
  (await until(() => effects.calls[0])).succeed();

  await until(async () => (await status(runId)) === 'completed');
  await host.stop(0);
});

it('a decorated store has the methods given, and passes the others on', async () => {
  const inner = openClass();
  const store = decorateStore(inner, { prune: () => Promise.resolve(42) });

  const pruned = await store.prune();
  await store.heartbeat('me', 1_000);

  expect(pruned).toBe(42);
  expect((await inner.holders()).map(({ name }) => name)).toEqual(['me']);
});
