/** The closed word lists of both contracts. Nothing in here may grow without a new contract version. */

export const CAPABILITY_DIFF = 'assay.runner.capability_diff.v0';
export const CROSS_RUNTIME_DIFF = 'assay.runner.cross_runtime_diff.v0';

export const HEALTH_SCHEMA = 'assay.runner.observation_health.v0';
export const SURFACE_SCHEMA = 'assay.runner.capability_surface.v0';
export const CORRELATION_SCHEMA = 'assay.runner.correlation_report.v0';
export const SDK_EVENT_SCHEMA = 'assay.runner.sdk_event.v0';
export const MANIFEST_SCHEMA = 'assay.runner.archive_manifest.v0';

export const HEALTH_FILE = 'observation-health.json';
export const SURFACE_FILE = 'capability-surface.json';
export const CORRELATION_FILE = 'correlation-report.json';
export const SDK_FILE = 'layers/sdk.ndjson';
export const EVENTS_FILE = 'events.ndjson';
export const MANIFEST_FILE = 'manifest.json';

/** The five sets of a capability surface, in the order of the wire. */
export const CATEGORIES = [
  'filesystem_paths',
  'network_endpoints',
  'process_execs',
  'mcp_tools',
  'policy_decisions',
] as const;
export type Category = (typeof CATEGORIES)[number];

export const RUNTIMES = ['s5_openai_agents', 'gemini_google_genai'] as const;
export type Runtime = (typeof RUNTIMES)[number];

export const STATUSES = ['clean', 'partial:health', 'partial:correlation', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

/** What a work-dir prefix becomes. */
export const PLACEHOLDER = '<work>/';

export const OUT_OF_SCOPE = 'out_of_scope_cross_runtime_v0';
export const SIDE_BAND = 'side_band_provenance';

export const CANONICALIZATION = {
  filesystem_paths: 'work_dir_prefix_only',
  network_endpoints: 'none',
  process_execs: 'none',
  mcp_tools: 'none',
  policy_decisions: 'none',
} as const satisfies Record<Category, string>;

export const CAPABILITY_SCOPE = {
  projection: 'surface_set',
  uses_raw_telemetry: false,
  uses_proof_pack: false,
  per_binding_capability_values: false,
} as const;
export const CROSS_SCOPE = { ...CAPABILITY_SCOPE, cross_runtime: true } as const;

export const NON_CLAIMS = [
  'cross_runtime_no_acceptability_judgment',
  'cross_runtime_no_declared_capability_input',
  'cross_runtime_no_derived_binding_identity',
  'cross_runtime_no_filename_semantic_equivalence',
  'cross_runtime_no_sdk_capability_equivalence',
] as const;

/** In plain words, for reports; the wire carries the codes only. */
export const NON_CLAIM_MEANING: Record<(typeof NON_CLAIMS)[number], string> = {
  cross_runtime_no_acceptability_judgment: 'Says nothing about whether a difference is acceptable.',
  cross_runtime_no_declared_capability_input:
    'Compares what was observed, not what a runtime declares it can do.',
  cross_runtime_no_derived_binding_identity: 'No call of one runtime is matched with a call of the other.',
  cross_runtime_no_filename_semantic_equivalence:
    'An unchanged path is equal text, not proof of equal meaning.',
  cross_runtime_no_sdk_capability_equivalence:
    'SDK name and version say where evidence came from, not what it can do.',
};

const BINDING_IDS_NOTE =
  'cross_runtime_diff_binding_ids_out_of_scope: binding ids are not cross-runtime comparable in v0; required only for within-runtime correlation';
const SDK_NOTE =
  'cross_runtime_diff_sdk_metadata_side_band: sdk metadata reported as side-band runtime provenance, not capability surface';
const PREFIX_NOTE =
  'cross_runtime_diff_work_dir_prefix_canonicalized: filesystem_paths normalized via the A1 work-dir prefix rule';

export const CROSS_NOTES = [BINDING_IDS_NOTE, SDK_NOTE, PREFIX_NOTE] as const;
/** Without the third, which would assert a canonicalization that did not happen. */
export const CROSS_FAILED_NOTES = [BINDING_IDS_NOTE, SDK_NOTE] as const;
export const IDEMPOTENT_NOTE = 'capability_diff_idempotent: base and head evidence sets are identical';

/**
 * Keys of a capability surface that would attribute values to bindings. v0 has no versioned source for that, so they
 * make a set unusable instead of being ignored like other unknown keys.
 */
export const UNBINDING_KEYS: readonly string[] = [
  'unbound',
  'per_binding',
  'bindings',
  'per_binding_capability_values',
];
