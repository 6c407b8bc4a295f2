/**
 * Two runs' evidence of any size, always the same for the same arguments: `node generate.mjs OUT PATHS sorted|unsorted|escaped`.
 * Both sides share four fifths of their paths. `escaped` is unsorted too, repeats a fifth of its paths and has a fifth with
 * characters outside ASCII or with escapes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [out, count, shape] = process.argv.slice(2);
const paths = Number(count);
const shared = Math.floor(paths * 0.8);
const isEscaped = shape === 'escaped';
const random = randomFrom(7);

const SIDES = [
  { name: 'base', runtime: 's5_openai_agents', prefix: '/tmp/assay-synth-base.Xy12/work/', first: shared },
  { name: 'head', runtime: 'gemini_google_genai', prefix: '/tmp/assay-synth-head.Zz98/work/', first: paths },
];
const WORDS = 'src lib test data cache model tool plan input output index main util core app'.split(' ');
const SPECIAL = [
  ...['caf\u00e9', 'cafe\u0301', '\ufb01le', '\u{1f600}', '\ue000pua', '\uffee', '\u{10000}', '\u4e2d\u6587'],
  ...['a\u2028b', 'tab\there', 'q"uote', 'back\\slash', 'del\u007f', 'nul\u0001'],
];

const info = {};
for (const { name, runtime, prefix, first } of SIDES) {
  const folder = join(out, name);
  mkdirSync(join(folder, 'layers'), { recursive: true });
  for (const [file, text] of filesOf(name, pathsOf(prefix, first))) writeFileSync(join(folder, file), text);
  info[name] = { runtime, work_dir_prefix: prefix };
}
writeFileSync(join(out, 'pair.json'), JSON.stringify(info));

/** The shared paths, then the side's own, which are numbered from `first`. */
function pathsOf(prefix, first) {
  const values = Array.from(
    { length: paths },
    (_, index) => prefix + relativePath(index < shared ? index : first + index - shared),
  );
  if (shape === 'sorted') return values.sort();
  if (isEscaped) {
    const repeated = Math.floor(paths * 0.2);
    for (let index = 0; index < repeated; index += 1) values.push(values[Math.floor(random() * paths)]);
  }
  return shuffle(values);
}

function relativePath(number) {
  const [outer, inner] = [WORDS[number % 15], WORDS[Math.floor(number / 15) % 15]];
  const folder = `${outer}/${inner}/pkg-${String(number % 997).padStart(3, '0')}`;
  const tail = `${folder}/file-${String(number).padStart(8, '0')}.txt`;
  return isEscaped && number % 5 === 0 ? `${SPECIAL[(number / 5) % SPECIAL.length]}/${tail}` : tail;
}

function filesOf(name, filesystemPaths) {
  const runId = `run_synth_${name}`;
  const health = {
    ...{ schema: 'assay.runner.observation_health.v0', run_id: runId, platform: 'linux' },
    ...{ kernel_layer: 'complete', ringbuf_drops: 0, policy_layer: 'present', sdk_layer: 'self_reported' },
    ...{ cgroup_correlation: 'clean', network_protocol_coverage: 'absent' },
    ...{ network_endpoint_claim_scope: 'not_applicable', notes: [] },
  };
  const surface = {
    ...{ schema: 'assay.runner.capability_surface.v0', run_id: runId, filesystem_paths: filesystemPaths },
    ...{ network_endpoints: [], process_execs: [] },
    ...{ mcp_tools: ['read_file'], policy_decisions: ['allow:read_file'] },
  };
  const call = `tc_${name}`;
  const window = { start: 'run_started', end: 'run_finished' };
  const bound = { tool_call_id: call, policy_decision: 'allow', kernel_event_count: 2, window };
  const correlation = {
    ...{ schema: 'assay.runner.correlation_report.v0', run_id: runId, status: 'clean' },
    ...{ bindings: [bound], ambiguities: [] },
  };
  const event = {
    ...{ schema: 'assay.runner.sdk_event.v0', run_id: runId, seq: 0, event_type: 'tool_call_started' },
    ...{ source: 'synthetic', sdk_name: 'sdk', sdk_version: '1.0.0', tool_call_id: call, tool: 'read_file' },
  };
  return [
    ['observation-health.json', JSON.stringify(health)],
    ['capability-surface.json', JSON.stringify(surface)],
    ['correlation-report.json', JSON.stringify(correlation)],
    ['layers/sdk.ndjson', `${JSON.stringify(event)}\n`],
  ];
}

function shuffle(values) {
  for (let last = values.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [values[last], values[other]] = [values[other], values[last]];
  }
  return values;
}

/** xorshift32: small, and the same numbers on every machine. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
