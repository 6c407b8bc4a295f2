import { valuesOf } from '../bytes/value-table.ts';
import { canonicalPath } from '../contract/canonical-path.ts';
import type { Diff, Projection } from '../contract/document.ts';
import { explain, type Explanation } from '../contract/explain.ts';
import type { Evidence } from '../contract/evidence.ts';
import { type Part, PARTS, partValues } from '../contract/set-diff.ts';
import { CATEGORIES, type Category, NON_CLAIM_MEANING, NON_CLAIMS } from '../contract/vocabulary.ts';

/** A value of the diff and, where the prefix rule changed it, how each side had it. */
export interface ReportValue {
  readonly value: string;
  readonly base?: readonly string[];
  readonly head?: readonly string[];
}

export interface ReportSide {
  readonly runId: string;
  /** What the caller claims; the SDK's own words stand next to it. */
  readonly runtime: string | undefined;
  readonly sdk: string | undefined;
  readonly endpointScope: string | undefined;
}

export interface ReportModel {
  readonly contract: Diff['contract'];
  readonly explanation: Explanation;
  readonly base: ReportSide;
  readonly head: ReportSide;
  readonly preconditions: readonly (readonly [string, boolean])[];
  readonly categories: readonly {
    readonly name: Category;
    readonly parts: Readonly<Record<Part, readonly ReportValue[]>>;
  }[];
  readonly bindingIds: Readonly<Record<Part, readonly string[]>> | undefined;
  readonly changedOutcomes: readonly {
    readonly tool_call_id: string;
    readonly base: string | null;
    readonly head: string | null;
  }[];
  readonly nonClaims: readonly (readonly [string, string])[];
  readonly notes: readonly string[];
}

/** Everything both reports show. Raw values appear when the evidence was collected with `keepRawPaths`. */
export function reportModel(projection: Projection, base: Evidence, head: Evidence): ReportModel {
  const { diff } = projection;
  const raw = diff.contract === 'cross' ? { base: rawPaths(base), head: rawPaths(head) } : undefined;
  return {
    contract: diff.contract,
    explanation: explain(projection),
    base: sideOf(diff, 'base', base),
    head: sideOf(diff, 'head', head),
    preconditions: Object.entries(diff.preconditions) as [string, boolean][],
    categories: CATEGORIES.map((name) => ({
      name,
      parts: Object.fromEntries(
        PARTS.map((part) => {
          const values = partValues(diff.surface[name], part);
          return [part, values.map((value) => withRaw(value, name === 'filesystem_paths' ? raw : undefined))];
        }),
      ) as Record<Part, ReportValue[]>,
    })),
    bindingIds:
      diff.contract === 'capability'
        ? (Object.fromEntries(PARTS.map((part) => [part, partValues(diff.bindingIds, part)])) as Record<
            Part,
            string[]
          >)
        : undefined,
    changedOutcomes: diff.contract === 'capability' ? diff.changedOutcomes : [],
    nonClaims:
      diff.contract === 'cross' ? NON_CLAIMS.map((code) => [code, NON_CLAIM_MEANING[code]] as const) : [],
    notes: diff.notes,
  };
}

type RawPaths = ReadonlyMap<string, readonly string[]>;

function rawPaths(evidence: Evidence): RawPaths {
  const raws = new Map<string, string[]>();
  const prefix = evidence.workDirPrefix;
  if (prefix === undefined || evidence.surface === undefined) return raws;
  for (const path of valuesOf(evidence.surface.raw.filesystem_paths)) {
    const canonical = canonicalPath(path, prefix);
    raws.set(canonical, [...(raws.get(canonical) ?? []), path]);
  }
  return raws;
}

function withRaw(value: string, raw: { base: RawPaths; head: RawPaths } | undefined): ReportValue {
  const changed = (paths: RawPaths | undefined): readonly string[] | undefined => {
    const found = paths?.get(value);
    return found === undefined || (found.length === 1 && found[0] === value) ? undefined : found;
  };
  const base = changed(raw?.base);
  const head = changed(raw?.head);
  return { value, ...(base === undefined ? {} : { base }), ...(head === undefined ? {} : { head }) };
}

function sideOf(diff: Diff, side: 'base' | 'head', evidence: Evidence): ReportSide {
  const sdk = evidence.sdk;
  const scope = evidence.health?.fields.get('network_endpoint_claim_scope');
  return {
    runId: side === 'base' ? diff.baseRunId : diff.headRunId,
    runtime: diff.contract === 'cross' ? (side === 'base' ? diff.baseRuntime : diff.headRuntime) : undefined,
    sdk: sdk === undefined || sdk.name === null ? undefined : `${sdk.name} ${sdk.version ?? ''}`.trim(),
    endpointScope: typeof scope === 'string' ? scope : undefined,
  };
}
