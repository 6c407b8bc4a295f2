/** A promise that is settled from outside. Node 20 has no Promise.withResolvers. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

export function deferred<Value = void>(): Deferred<Value> {
  let settle: Omit<Deferred<Value>, 'promise'> | undefined;
  const promise = new Promise<Value>((resolve, reject) => {
    settle = { resolve, reject };
  });
  if (settle === undefined) throw new Error('a promise calls its executor at once');
  return { promise, ...settle };
}
