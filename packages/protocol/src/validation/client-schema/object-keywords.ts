import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts';
import type { Pattern } from '../pattern/pattern.ts';
import { type Check, fits, fitsAsBranch, inside, type Run, type Schema, sawName } from './evaluate.ts';
import { type Keyword, type Keywords, type Site, wrong } from './keyword.ts';

/** Keywords that look at objects; every other value is right. */

/** Gathering the names of a large object takes as long as visiting each several times. */
const NAME_STEPS = 6;

/** Every keyword that asks for the names gathers them. */
function namesOf(value: JsonObject, run: Run): string[] {
  const names = Object.keys(value);
  run.budget.spend(NAME_STEPS * names.length);
  return names;
}

function countKeyword(isMet: (count: number, limit: number) => boolean, words: string): Keyword {
  return {
    shape: 'count',
    make: (limit, site) => (value, at, run) =>
      !isJsonObject(value) ||
      isMet(namesOf(value, run).length, limit as number) ||
      wrong(site, at, run, { limit }, `must have ${words} ${String(limit)} fields`),
  };
}

function hasAll(
  names: readonly string[],
  value: JsonObject,
  run: Run,
  onMissing: (name: string) => false,
): boolean {
  run.budget.spend(names.length);
  let ok = true;
  for (const name of names) {
    if (Object.hasOwn(value, name)) continue;
    ok = onMissing(name);
    if (run.findings === undefined) return false;
  }
  return ok;
}

function subschemas(value: Json, site: Site): Map<string, Schema> {
  return new Map(
    Object.entries(value as JsonObject).map(([name, schema]) => [name, site.subschema(schema, name)]),
  );
}

/** Patterns of names, made ready. */
function namePatterns(value: Json | undefined, site: Site): Pattern[] {
  return isJsonObject(value) ? Object.keys(value).map((source) => site.pattern(source)) : [];
}

const additionalProperties: Keyword = {
  shape: 'schema',
  make: (value, site) => {
    const fitsOther = otherMember(site.subschema(value), site);
    const declared = isJsonObject(site.schema['properties']) ? site.schema['properties'] : {};
    const patterns = namePatterns(site.schema['patternProperties'], site);
    const isOther = (name: string, run: Run): boolean =>
      !Object.hasOwn(declared, name) && !patterns.some((pattern) => pattern.test(name, run.budget));
    return (instance, at, run, seen) => {
      if (!isJsonObject(instance)) return true;
      let ok = true;
      for (const name of namesOf(instance, run)) {
        if (!isOther(name, run)) continue;
        sawName(seen, name, run);
        if (fitsOther(instance, name, at, run)) continue;
        ok = false;
        if (run.findings === undefined) return false;
      }
      return ok;
    };
  },
};

/** A field that is not allowed is named, not merely refused. */
function otherMember(
  schema: Schema,
  site: Site,
): (instance: JsonObject, name: string, at: string, run: Run) => boolean {
  if (schema !== false)
    return (instance, name, at, run) => fits(schema, instance[name] as Json, inside(at, name, run), run);
  const param = site.keyword === 'unevaluatedProperties' ? 'unevaluatedProperty' : 'additionalProperty';
  return (_, name, at, run) => wrong(site, at, run, { [param]: name });
}

const unevaluatedProperties: Keyword = {
  shape: 'schema',
  make: (value, site) => {
    const fitsOther = otherMember(site.subschema(value), site);
    return (instance, at, run, seen) => {
      if (!isJsonObject(instance)) return true;
      let ok = true;
      for (const name of namesOf(instance, run)) {
        if (seen?.names.has(name) === true) continue;
        sawName(seen, name, run);
        if (fitsOther(instance, name, at, run)) continue;
        ok = false;
        if (run.findings === undefined) return false;
      }
      return ok;
    };
  },
};

const patternProperties: Keyword = {
  shape: 'schemaMap',
  make: (value, site) => {
    const rules = [...subschemas(value, site)].map(
      ([source, schema]) => [site.pattern(source), schema] as const,
    );
    return (instance, at, run, seen) => {
      if (!isJsonObject(instance)) return true;
      const names = namesOf(instance, run);
      let ok = true;
      for (const [pattern, schema] of rules) {
        for (const name of names) {
          run.budget.spend(1);
          if (!pattern.test(name, run.budget)) continue;
          sawName(seen, name, run);
          if (fits(schema, instance[name] as Json, inside(at, name, run), run)) continue;
          ok = false;
          if (run.findings === undefined) return false;
        }
      }
      return ok;
    };
  },
};

const propertyNames: Keyword = {
  shape: 'schema',
  make: (value, site) => {
    const schema = site.subschema(value);
    return (instance, at, run) => {
      if (!isJsonObject(instance)) return true;
      let ok = true;
      for (const name of namesOf(instance, run)) {
        if (fits(schema, name, at, run)) continue;
        ok = wrong(site, at, run, { propertyName: name }, 'has a field whose name is not allowed');
        if (run.findings === undefined) return false;
      }
      return ok;
    };
  },
};

/** Fields, or a schema, that the presence of a field asks for. */
function dependency(name: string, wanted: Json, site: Site): Check {
  if (Array.isArray(wanted)) {
    return (instance, at, run) =>
      !isJsonObject(instance) ||
      !Object.hasOwn(instance, name) ||
      hasAll(wanted as string[], instance, run, (missing) =>
        wrong(site, at, run, {}, `the field "${missing}" is missing, which "${name}" needs`),
      );
  }
  const schema = site.subschema(wanted, name);
  return (instance, at, run, seen) =>
    !isJsonObject(instance) ||
    !Object.hasOwn(instance, name) ||
    fitsAsBranch(schema, instance, at, run, seen);
}

const dependencies = (shape: 'schemaMap' | 'stringsMap' | 'dependencies'): Keyword => ({
  shape,
  make: (value, site) => {
    const checks = Object.entries(value as JsonObject).map(([name, wanted]) =>
      dependency(name, wanted, site),
    );
    return (instance, at, run, seen) => {
      let ok = true;
      for (const check of checks) {
        run.budget.spend(1);
        if (check(instance, at, run, seen)) continue;
        ok = false;
        if (run.findings === undefined) return false;
      }
      return ok;
    };
  },
});

export const OBJECT_KEYWORDS: Keywords = {
  maxProperties: countKeyword((count, limit) => count <= limit, 'at most'),
  minProperties: countKeyword((count, limit) => count >= limit, 'at least'),
  required: {
    shape: 'strings',
    make: (names, site) => (value, at, run) =>
      !isJsonObject(value) ||
      hasAll(names as string[], value, run, (missingProperty) => wrong(site, at, run, { missingProperty })),
  },
  propertyNames,
  additionalProperties,
  dependencies: dependencies('dependencies'),
  dependentRequired: dependencies('stringsMap'),
  dependentSchemas: dependencies('schemaMap'),
  properties: {
    shape: 'schemaMap',
    make: (value, site) => {
      const schemas = [...subschemas(value, site)];
      return (instance, at, run, seen) => {
        if (!isJsonObject(instance)) return true;
        let ok = true;
        for (const [name, schema] of schemas) {
          run.budget.spend(1);
          if (!Object.hasOwn(instance, name)) continue;
          sawName(seen, name, run);
          if (fits(schema, instance[name] as Json, inside(at, name, run), run)) continue;
          ok = false;
          if (run.findings === undefined) return false;
        }
        return ok;
      };
    },
  },
  patternProperties,
  unevaluatedProperties,
};
