import type { Store } from './store.ts';

/**
 * A store in which some methods are others and the rest is passed on. The methods of the inner store are called on it, wherever
 * they stand: a store may be an object of closures or a class with private state.
 */
export function decorateStore(inner: Store, methods: Partial<Store>): Store {
  const passedOn: Record<string, unknown> = {};
  for (
    let at: object | null = inner;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function') passedOn[name] ??= value.bind(inner) as unknown;
    }
  }
  return { ...(passedOn as unknown as Store), ...methods };
}
