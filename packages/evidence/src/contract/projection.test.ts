import { describe, expect, it } from 'vitest';
import { evidenceFromFiles, type EvidenceFiles } from '../from-files.ts';
import { DECLARED, runFiles, type RunParts, sdkLine } from '../testing/runs.ts';
import { check } from '../check/check.ts';
import { cross } from './cross.ts';
import type { Declared } from './declared.ts';
import { diff } from './diff.ts';
import type { Projection } from './document.ts';
import { explain } from './explain.ts';
import { renderDiff } from './render.ts';

function crossOf(
  base: RunParts | EvidenceFiles,
  head: RunParts = {},
  declared: Declared = DECLARED,
): Projection {
  const files = 'observation-health.json' in base ? base : runFiles(base);
  return cross(
    evidenceFromFiles(files, { workDirPrefix: declared.basePrefix }),
    evidenceFromFiles(runFiles(head), { workDirPrefix: declared.headPrefix }),
    declared,
  );
}

function codes(projection: Projection): string[] {
  return explain(projection).reasons.map((reason) => reason.code);
}

describe('evidence that cannot be compared', () => {
  it.each<[string, RunParts, string]>([
    ['a newer schema', { health: { schema: 'assay.runner.observation_health.v1' } }, 'wrong_schema'],
    ['an empty run id', { surface: { run_id: '' } }, 'no_run_id'],
    ['files of different runs', { correlation: { run_id: 'other' } }, 'run_id_mismatch'],
    ['SDK events of another run', { sdk: sdkLine({ run_id: 'other' }) }, 'run_id_mismatch'],
    [
      'two calls with one id',
      { correlation: { bindings: [{ tool_call_id: 'a' }, { tool_call_id: 'a' }] } },
      'duplicate_tool_call_id',
    ],
    ['a binding that is no object', { correlation: { bindings: ['a'] } }, 'binding_not_object'],
    ['a category that is null', { surface: { mcp_tools: null } }, 'category_not_strings'],
    ['a number among strings', { surface: { mcp_tools: ['a', 1] } }, 'category_not_strings'],
    ['values attributed to bindings', { surface: { unbound: {} } }, 'per_binding_hint'],
    [
      'newer SDK events mixed in',
      { sdk: sdkLine() + sdkLine({ schema: 'assay.runner.sdk_event.v1' }) },
      'newer_sdk_event',
    ],
    [
      'an SDK name hidden behind a null version',
      { sdk: sdkLine() + sdkLine({ sdk_name: 'x', sdk_version: null }) },
      'inconsistent_sdk',
    ],
    ['SDK lines parted by bare CR', { sdk: (sdkLine() + sdkLine()).replaceAll('\n', '\r') }, 'not_json'],
    ['a line padded with a no-break space', { sdk: `\u00a0${sdkLine()}` }, 'not_json'],
    ['an SDK key twice', { sdk: sdkLine().replace('{', '{"sdk_name":"x",') }, 'duplicate_key'],
    ['an empty SDK layer', { sdk: '' }, 'no_sdk_metadata'],
  ])('%s', (_, parts, code) => {
    const found = crossOf(parts);

    expect(found.diff.status).toBe('failed');
    expect(codes(found)).toContain(code);
  });

  it('lists every problem of both sides at once', () => {
    const found = crossOf(
      { health: { run_id: 5 }, surface: { mcp_tools: null } },
      { sdk: 'x\n' },
      { ...DECLARED, headRuntime: undefined },
    );

    expect(codes(found)).toEqual(
      expect.arrayContaining([
        'no_run_id',
        'category_not_strings',
        'not_json',
        'no_sdk_metadata',
        'unknown_runtime',
      ]),
    );
  });

  it.each([
    ['/w', 'prefix_without_slash'],
    ['w/', 'prefix_not_absolute'],
    ['', 'no_prefix'],
  ])('the prefix %j', (basePrefix, code) => {
    expect(codes(crossOf({}, {}, { ...DECLARED, basePrefix }))).toEqual([code]);
  });

  it('gives a failed document of the decided shape, empty and without the third note', () => {
    const found = crossOf({ sdk: '' }, {}, { ...DECLARED, headRuntime: undefined });

    const text = renderDiff(found.diff);

    expect(JSON.parse(text)).toMatchObject({
      status: 'failed',
      base_run_id: 'run_1',
      head_runtime: '',
      preconditions: { base_health_clean: true, runtimes_distinct: false },
      sdk_metadata: { base: { sdk_name: null, sdk_version: null }, head: { sdk_name: 'agents-sdk' } },
      surface: { mcp_tools: { added: [], removed: [], unchanged: [] } },
    });
    expect(found.diff.notes).toHaveLength(2);
    expect(check(new TextEncoder().encode(text)).problems).toEqual([]);
  });

  it('needs the SDK layer across runtimes only', () => {
    const { 'layers/sdk.ndjson': _, ...files } = runFiles();

    const run = evidenceFromFiles(files);

    expect(codes(crossOf(files))).toEqual(['missing_file']);
    expect(diff(run, run).diff.status).toBe('clean');
  });
});

describe('evidence that can be compared in part', () => {
  it.each([[undefined], [''], [7]])('a binding with the id %j has none', (tool_call_id) => {
    const found = crossOf({ correlation: { bindings: [{ tool_call_id, policy_decision: 'allow' }] } });

    expect(found.diff.status).toBe('partial:correlation');
    expect(found.diff.preconditions).toMatchObject({
      base_correlation_clean: true,
      stable_tool_call_ids_present: false,
    });
  });

  it('a kernel layer on another system than Linux is not believed', () => {
    expect(crossOf({ health: { platform: 'macos' } }).diff.status).toBe('partial:health');
    expect(crossOf({ health: { platform: undefined } }).diff.status).toBe('clean');
  });

  it('health comes before correlation', () => {
    const bad = { health: { ringbuf_drops: 1 }, correlation: { status: 'partial' } };

    expect(crossOf(bad).diff.status).toBe('partial:health');
    expect(codes(crossOf(bad))).toEqual(['health_not_clean', 'correlation_not_clean']);
  });
});

describe('policy outcomes', () => {
  const run = (decision: unknown, decisions: string[], health = {}) =>
    evidenceFromFiles(
      runFiles({
        health,
        surface: { policy_decisions: decisions },
        correlation: { bindings: [{ tool_call_id: 'tc_1', policy_decision: decision }] },
      }),
    );

  it('are listed when they change', () => {
    const found = diff(run('allow', ['allow:x']), run('deny', ['deny:x'])).diff;

    expect(found).toMatchObject({
      status: 'clean',
      changedOutcomes: [{ tool_call_id: 'tc_1', base: 'allow', head: 'deny' }],
    });
  });

  it('may not contradict the surface in a clean diff', () => {
    expect(diff(run('allow', ['allow:x']), run('allow', ['allow:y'])).diff.status).toBe('failed');
  });

  it('may contradict it in a partial one, which is still printed', () => {
    const found = diff(run('allow', ['allow:x'], { ringbuf_drops: 1 }), run('allow', ['allow:y']));

    expect(found.diff.status).toBe('partial:health');
    expect(found.problems).toContainEqual(
      expect.objectContaining({ code: 'policy_inconsistent', effect: 'note' }),
    );
  });

  it('treat a missing decision as null', () => {
    expect(diff(run(null, []), run(undefined, [])).diff).toMatchObject({
      status: 'clean',
      changedOutcomes: [],
    });
  });
});

describe('notes on the declared prefix', () => {
  it('say when it fits nothing, and what the run was started with', () => {
    const events = JSON.stringify({ type: 'run_started', command: ['agent', '/w/a'] });
    const files = { ...runFiles(), 'events.ndjson': `${events}\n` };
    const found = crossOf(files, {}, { ...DECLARED, basePrefix: '/elsewhere/' });

    expect(found.problems).toContainEqual(
      expect.objectContaining({
        code: 'prefix_matches_nothing',
        side: 'base',
        found: expect.stringContaining('"/w/a/"'),
      }),
    );
  });

  it('say where else it shows', () => {
    const found = crossOf({
      surface: { filesystem_paths: ['/w/a', '<work>/x', '/w/a/x'], process_execs: ['/w/a/tool'] },
    });

    expect(
      found.problems.filter((problem) => problem.side === 'base').map((problem) => problem.code),
    ).toEqual(['work_dir_without_slash', 'literal_placeholder', 'prefix_in_other_category']);
  });
});
