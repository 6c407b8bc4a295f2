import type { TSchema } from 'typebox';
import type { Json, JsonObject } from '../json/json.ts';
import { componentName, NAMED_SCHEMAS } from './named-schemas.ts';

/**
 * Schemas for one document, as plain JSON in which those with a name are references. What was referred to is kept, so that the
 * document brings all of it along, once, and nothing that it does not use.
 */
export interface Bundle {
  /** The schema, or a reference to it. */
  schema(schema: TSchema): Json;
  /** The schema itself, whether or not it has a name. */
  body(schema: TSchema): JsonObject;
  /** All that was referred to so far, by name. */
  components(): JsonObject;
}

const NAMED: readonly (readonly [string, TSchema])[] = Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [
  componentName(name),
  schema,
]);
const SCHEMA_OF = new Map(NAMED);
const NAME_OF = new Map<unknown, string>(NAMED.map(([name, schema]) => [schema, name]));
/** An optional member is a copy of its schema, so the content has to do. Of two equal ones the first is meant. */
const NAME_OF_CONTENT = new Map(NAMED.toReversed().map(([name, schema]) => [JSON.stringify(schema), name]));

/** `place` is what references begin with, such as `#/components/schemas/`. */
export function createBundle(place: string): Bundle {
  const used = new Set<string>();

  function refer(name: string): Json {
    used.add(name);
    return { $ref: `${place}${name}` };
  }

  function plain(value: unknown): Json {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value as Json;
    const name = NAME_OF.get(value) ?? NAME_OF_CONTENT.get(JSON.stringify(value));
    return name === undefined ? members(value) : refer(name);
  }

  function members(value: object): JsonObject {
    const entries = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(entries.map(([key, member]) => [key, plain(member)]));
  }

  return {
    schema: plain,
    body: members,
    components() {
      const all = new Map<string, Json>();
      // Grows while it is walked: a body may refer to more.
      for (const name of used) all.set(name, members(SCHEMA_OF.get(name) ?? {}));
      return Object.fromEntries([...all].toSorted(([left], [right]) => (left < right ? -1 : 1)));
    },
  };
}
