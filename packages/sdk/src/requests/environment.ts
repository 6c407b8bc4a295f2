/** A variable of the process; undefined in browsers, which have no process, and when it is empty. */
export function fromEnvironment(name: 'WEFT_URL' | 'WEFT_API_KEY'): string | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly env?: Record<string, string | undefined> };
  };
  const value = process?.env?.[name];
  return value === '' ? undefined : value;
}
