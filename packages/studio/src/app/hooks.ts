import {
  createContext,
  type DependencyList,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { Client } from '@weft/sdk';
import { hashOf, parseRoute, type Route } from './route.ts';
import type { Session } from './session.ts';

export interface Signed {
  readonly client: Client;
  readonly session: Session;
}

export const SignedContext = createContext<Signed | undefined>(undefined);

export function useSigned(): Signed {
  const signed = useContext(SignedContext);
  if (signed === undefined) throw new Error('This page is only shown after the sign-in.');
  return signed;
}

function subscribeToHash(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribeToHash, () => location.hash);
  return parseRoute(hash);
}

/** Changes parameters of the place one is at, without a step in the history. */
export function changeQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = parseRoute(location.hash);
  history.replaceState(null, '', hashOf(path, { ...query, ...changes }));
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export type Loaded<Value> =
  | { readonly state: 'loading'; readonly value?: Value }
  | { readonly state: 'ready'; readonly value: Value }
  /** With the last value where there was one: an old list is better than none. */
  | { readonly state: 'failed'; readonly error: unknown; readonly value?: Value };

/** Asks again when what it depends on changes, and when `reload` is called; the answer of an older question is dropped. */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  dependencies: DependencyList,
): readonly [Loaded<Value>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const identity = JSON.stringify(dependencies);
  const seen = useRef(identity);
  useEffect(() => {
    const controller = new AbortController();
    if (seen.current !== identity) setLoaded({ state: 'loading' });
    seen.current = identity;
    latest.current(controller.signal).then(
      (value) => controller.signal.aborted || setLoaded({ state: 'ready', value }),
      (error: unknown) =>
        controller.signal.aborted ||
        setLoaded((before) => ({
          state: 'failed',
          error,
          ...(before.value !== undefined && { value: before.value }),
        })),
    );
    return () => controller.abort();
  }, [identity, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return [loaded, reload];
}

/** Calls again and again while the page is looked at. */
export function useEvery(ms: number, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
}

/** The time, moving on while something is shown that depends on it. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEvery(everyMs, () => setNow(Date.now()));
  return now;
}
