import type { Json } from '../../json/json.ts';
import { fits, fitsAsBranch, fitsQuietly, type Run, type Schema, type Seen } from './evaluate.ts';
import { type Keyword, type Keywords, type Site, wrong } from './keyword.ts';

/** Keywords that hold further schemas against the same value. */

function branches(value: Json, site: Site): Schema[] {
  return (value as Json[]).map((branch, index) => site.subschema(branch, index));
}

/** How many branches fit. What is wrong with the others is forgotten when one does. */
function countFitting(
  schemas: readonly Schema[],
  enough: number,
): (value: Json, at: string, run: Run, seen: Seen | undefined) => number {
  return (value, at, run, seen) => {
    const findings = run.findings?.length ?? 0;
    let fitting = 0;
    for (const schema of schemas) {
      if (fitsAsBranch(schema, value, at, run, seen)) fitting += 1;
      // Where a keyword asks what was evaluated, every branch counts.
      if (fitting >= enough && seen === undefined) break;
    }
    if (fitting > 0 && run.findings !== undefined) run.findings.length = findings;
    return fitting;
  };
}

/** Holds `then` and `else`, which mean nothing without it. */
const conditional: Keyword = {
  shape: 'schema',
  make: (condition, site) => {
    const when = site.subschema(condition);
    const then = site.sibling('then');
    const otherwise = site.sibling('else');
    if (then === undefined && otherwise === undefined) return undefined;
    return (value, at, run, seen) => {
      const holds = fitsQuietly(when, value, run, seen);
      const branch = holds ? then : otherwise;
      if (branch === undefined || fits(branch, value, at, run, seen)) return true;
      const failingKeyword = holds ? 'then' : 'else';
      return wrong(site, at, run, { failingKeyword }, `must match the "${failingKeyword}" schema`);
    };
  },
};

export const COMPOSING_KEYWORDS: Keywords = {
  $ref: {
    shape: 'string',
    make: (pointer, site) => {
      const target = site.reference(pointer as string);
      return (value, at, run, seen) => fits(target, value, at, run, seen);
    },
  },
  not: {
    shape: 'schema',
    make: (value, site) => {
      const schema = site.subschema(value);
      return (instance, at, run) => !fitsQuietly(schema, instance, run) || wrong(site, at, run, {});
    },
  },
  anyOf: {
    shape: 'schemas',
    make: (value, site) => {
      const count = countFitting(branches(value, site), 1);
      return (instance, at, run, seen) => count(instance, at, run, seen) > 0 || wrong(site, at, run, {});
    },
  },
  oneOf: {
    shape: 'schemas',
    make: (value, site) => {
      const count = countFitting(branches(value, site), 2);
      return (instance, at, run, seen) => count(instance, at, run, seen) === 1 || wrong(site, at, run, {});
    },
  },
  allOf: {
    shape: 'schemas',
    make: (value, site) => {
      const schemas = branches(value, site);
      return (instance, at, run, seen) => {
        let ok = true;
        for (const schema of schemas) {
          if (fits(schema, instance, at, run, seen)) continue;
          ok = false;
          if (run.findings === undefined) break;
        }
        return ok;
      };
    },
  },
  if: conditional,
};
