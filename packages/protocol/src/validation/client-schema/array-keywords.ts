import { canonicalJson } from '../../json/canonical.ts';
import type { Json } from '../../json/json.ts';
import { chargeWhole, fits, fitsQuietly, inside, type Run, type Schema, sawItem } from './evaluate.ts';
import { type Keyword, type Keywords, type Site, wrong } from './keyword.ts';
import { isScalar } from './scalar-keywords.ts';

/** Keywords that look at arrays; every other value is right. */

function countKeyword(isMet: (count: number, limit: number) => boolean): Keyword {
  return {
    shape: 'count',
    make: (limit, site) => (value, at, run) =>
      !Array.isArray(value) || isMet(value.length, limit as number) || wrong(site, at, run, { limit }),
  };
}

/** Compared in a set: every pair would be too many. */
function areDistinct(items: readonly Json[], run: Run): boolean {
  const scalars = new Set<Json>();
  const texts = new Set<string>();
  for (const item of items) {
    chargeWhole(item, run.budget);
    run.budget.allocate(40);
    if (isScalar(item)) scalars.add(item);
    else texts.add(canonicalJson(item));
  }
  return scalars.size + texts.size === items.length;
}

/** Nothing may follow: said once, not of every item. */
function tooMany(site: Site, limit: number, at: string, run: Run): false {
  return wrong(site, at, run, { limit }, `must have at most ${limit} entries`);
}

const contains: Keyword = {
  shape: 'schema',
  make: (value, site) => {
    const schema = site.subschema(value);
    const { minContains, maxContains } = site.schema;
    const least = typeof minContains === 'number' ? minContains : 1;
    const most = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY;
    return (items, at, run, seen) => {
      if (!Array.isArray(items)) return true;
      let found = 0;
      for (const [index, item] of items.entries()) {
        if (!fitsQuietly(schema, item, run)) continue;
        found += 1;
        sawItem(seen, index, run);
      }
      if (found >= least && found <= most) return true;
      const words = found < least ? `at least ${least}` : `at most ${most}`;
      return wrong(site, at, run, {}, `must contain ${words} entries that fit`);
    };
  },
};

const unevaluatedItems: Keyword = {
  shape: 'schema',
  make: (value, site) => {
    const schema = site.subschema(value);
    return (items, at, run, seen) => {
      if (!Array.isArray(items)) return true;
      let ok = true;
      for (let index = seen?.leading ?? 0; index < items.length; index++) {
        run.budget.spend(1);
        if (seen?.items.has(index) === true) continue;
        if (schema === false) return tooMany(site, index, at, run);
        if (!fits(schema, items[index] as Json, inside(at, index, run), run)) ok = false;
        if (!ok && run.findings === undefined) return false;
      }
      if (seen !== undefined) seen.leading = items.length;
      return ok;
    };
  },
};

export const ARRAY_KEYWORDS: Keywords = {
  maxItems: countKeyword((count, limit) => count <= limit),
  minItems: countKeyword((count, limit) => count >= limit),
  uniqueItems: {
    shape: 'boolean',
    make: (wanted, site) =>
      wanted === true
        ? (value, at, run) => !Array.isArray(value) || areDistinct(value, run) || wrong(site, at, run, {})
        : undefined,
  },
  prefixItems: {
    shape: 'schemas',
    make: (value, site) => {
      const schemas = (value as Json[]).map((schema, index) => site.subschema(schema, index));
      return (items, at, run, seen) => {
        if (!Array.isArray(items)) return true;
        let ok = true;
        for (const [index, item] of items.slice(0, schemas.length).entries()) {
          if (fits(schemas[index] as Schema, item, inside(at, index, run), run)) continue;
          ok = false;
          if (run.findings === undefined) return false;
        }
        if (seen !== undefined) seen.leading = Math.max(seen.leading, Math.min(schemas.length, items.length));
        return ok;
      };
    },
  },
  items: {
    shape: 'schema',
    make: (value, site) => {
      const schema = site.subschema(value);
      const { prefixItems } = site.schema;
      const first = Array.isArray(prefixItems) ? prefixItems.length : 0;
      return (items, at, run, seen) => {
        if (!Array.isArray(items)) return true;
        if (schema === false) return items.length <= first || tooMany(site, first, at, run);
        let ok = true;
        for (let index = first; index < items.length; index++) {
          if (fits(schema, items[index] as Json, inside(at, index, run), run)) continue;
          ok = false;
          if (run.findings === undefined) return false;
        }
        if (seen !== undefined) seen.leading = items.length;
        return ok;
      };
    },
  },
  contains,
  minContains: { shape: 'count', make: () => undefined },
  maxContains: { shape: 'count', make: () => undefined },
  unevaluatedItems,
};
