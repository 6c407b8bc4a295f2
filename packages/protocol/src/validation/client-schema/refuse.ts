import { HostError } from '../../errors/errors.ts';
import type { Json, JsonObject } from '../../json/json.ts';

/** Says where in a schema something is wrong, and with `bound` that it is too large. */
export function refuse(
  path: string,
  problem: string,
  bound?: { readonly limit: number; readonly observed: number },
): never {
  const place = path === '' ? '' : ` at ${path}`;
  throw new HostError(
    bound === undefined ? 'validation_error' : 'schema_too_large',
    `The schema is not acceptable${place}: ${problem}.`,
    { field: path, ...bound },
  );
}

export function resolvePointer(root: JsonObject, reference: string): Json | undefined {
  let at: Json | undefined = root;
  const steps = reference === '#' ? [] : reference.slice(2).split('/');
  for (const step of steps) {
    const key = decodeStep(step);
    if (typeof at !== 'object' || at === null || key === undefined || !Object.hasOwn(at, key))
      return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

export function escapePointer(step: string): string {
  // Most names need nothing, and there are thousands of them in a schema.
  if (step.length <= 128 && !/[~/]/.test(step)) return step;
  return step.slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1');
}
