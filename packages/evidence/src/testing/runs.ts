type Json = Record<string, unknown>;

export interface RunParts {
  readonly runId?: string;
  readonly health?: Json;
  readonly surface?: Json;
  readonly correlation?: Json;
  readonly sdk?: string;
}

const SDK = { sdk_name: 'agents-sdk', sdk_version: '1.2.3' };

/** The files of a clean run, with the given parts changed. */
export function runFiles(parts: RunParts = {}): Record<string, string> {
  const runId = parts.runId ?? 'run_1';
  return {
    'observation-health.json': JSON.stringify({
      schema: 'assay.runner.observation_health.v0',
      run_id: runId,
      platform: 'linux',
      kernel_layer: 'complete',
      ringbuf_drops: 0,
      policy_layer: 'present',
      sdk_layer: 'self_reported',
      cgroup_correlation: 'clean',
      notes: [],
      ...parts.health,
    }),
    'capability-surface.json': JSON.stringify({
      schema: 'assay.runner.capability_surface.v0',
      run_id: runId,
      filesystem_paths: ['/w/a/in.txt', '/w/a/out.txt'],
      network_endpoints: [],
      process_execs: [],
      mcp_tools: ['read_file'],
      policy_decisions: ['allow:read_file'],
      ...parts.surface,
    }),
    'correlation-report.json': JSON.stringify({
      schema: 'assay.runner.correlation_report.v0',
      run_id: runId,
      status: 'clean',
      bindings: [{ tool_call_id: 'tc_1', policy_decision: 'allow' }],
      ambiguities: [],
      ...parts.correlation,
    }),
    'layers/sdk.ndjson': parts.sdk ?? sdkLine({ run_id: runId }),
  };
}

export function sdkLine(fields: Json = {}): string {
  return `${JSON.stringify({ schema: 'assay.runner.sdk_event.v0', run_id: 'run_1', ...SDK, ...fields })}\n`;
}

export const DECLARED = {
  baseRuntime: 's5_openai_agents',
  headRuntime: 'gemini_google_genai',
  basePrefix: '/w/a/',
  headPrefix: '/w/b/',
} as const;
