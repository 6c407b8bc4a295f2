import type { JsonNode } from './bytes/json-tree.ts';
import type { Evidence } from './contract/evidence.ts';
import type { Problem } from './contract/problem.ts';
import { CATEGORIES, type Category } from './contract/vocabulary.ts';

/** One run at a glance. */
export interface RunSummary {
  readonly run_id: string | undefined;
  readonly health:
    | { readonly clean: boolean; readonly fields: Readonly<Record<string, JsonNode>> }
    | undefined;
  /** How many distinct values each category has. */
  readonly surface: Readonly<Record<Category, number>> | undefined;
  readonly correlation:
    | { readonly clean: boolean; readonly bindings: number; readonly ambiguities: readonly string[] }
    | undefined;
  readonly sdk:
    | { readonly sdk_name: string | null; readonly sdk_version: string | null; readonly events: number }
    | undefined;
  /** What the run's own log suggests as work dir; declare it only if you know it to be so. */
  readonly prefix_hint: string | undefined;
  readonly problems: readonly Problem[];
}

const SHOWN_FIELDS = [
  'platform',
  'kernel_layer',
  'capture_origin',
  'ringbuf_drops',
  'policy_layer',
  'sdk_layer',
  'cgroup_correlation',
  'network_protocol_coverage',
  'network_endpoint_claim_scope',
];

export function show(evidence: Evidence): RunSummary {
  const { health, surface, correlation, sdk } = evidence;
  const paths = surface?.canonicalPaths?.count;
  return {
    run_id: health?.runId ?? surface?.runId ?? correlation?.runId,
    health: health && { clean: health.isClean, fields: shown(health.fields) },
    surface:
      surface &&
      (Object.fromEntries(
        CATEGORIES.map((name) => [
          name,
          (name === 'filesystem_paths' ? paths : undefined) ?? surface.raw[name].count,
        ]),
      ) as Record<Category, number>),
    correlation: correlation && {
      clean: correlation.isClean,
      bindings: correlation.decisions.size,
      ambiguities: correlation.ambiguities,
    },
    sdk: sdk && { sdk_name: sdk.name, sdk_version: sdk.version, events: sdk.events },
    prefix_hint: evidence.prefixHint,
    problems: evidence.problems,
  };
}

function shown(fields: ReadonlyMap<string, JsonNode>): Record<string, JsonNode> {
  return Object.fromEntries(
    SHOWN_FIELDS.flatMap((name) => {
      const value = fields.get(name);
      return value === undefined || (typeof value === 'object' && value !== null) ? [] : [[name, value]];
    }),
  );
}
