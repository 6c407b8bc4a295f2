import { describe, expect, it } from 'vitest';
import { cross } from '../contract/cross.ts';
import { diff } from '../contract/diff.ts';
import { renderDiff } from '../contract/render.ts';
import { evidenceFromFiles } from '../from-files.ts';
import { DECLARED, runFiles } from '../testing/runs.ts';
import { check } from './check.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const run = evidenceFromFiles(runFiles());
const capability = renderDiff(diff(run, run).diff);
const crossed = renderDiff(
  cross(
    evidenceFromFiles(runFiles(), { workDirPrefix: DECLARED.basePrefix }),
    evidenceFromFiles(runFiles(), { workDirPrefix: DECLARED.headPrefix }),
    DECLARED,
  ).diff,
);

/** The document with one change, in the right layout. */
function changed(text: string, change: (document: Record<string, never>) => void): Uint8Array {
  const document = JSON.parse(text) as Record<string, never>;
  change(document);
  return bytesOf(`${JSON.stringify(document, null, 2)}\n`);
}

type Loose = Record<string, Record<string, Record<string, unknown>>>;

describe('checking a document', () => {
  it('accepts what we make', () => {
    expect(check(bytesOf(capability))).toEqual({ contract: 'capability', status: 'clean', problems: [] });
    expect(check(bytesOf(crossed))).toEqual({ contract: 'cross', status: 'clean', problems: [] });
  });

  it.each<[string, (document: Loose) => void, string]>([
    ['an extra surface key', (d) => (d['surface']!['x'] = {}), '/surface/x'],
    ['an extra key in unbound', (d) => (d['unbound']!['x'] = {}), '/unbound/x'],
    ['an extra canonicalization', (d) => (d['canonicalization']!['x'] = {}), '/canonicalization/x'],
    ['an empty run id', (d) => Object.assign(d, { base_run_id: '' }), '/base_run_id'],
    ['null where an object belongs', (d) => Object.assign(d, { scope: null }), '/scope'],
    [
      'clean with a false precondition',
      (d) => Object.assign(d['preconditions']!, { base_health_clean: false }),
      '/status',
    ],
    ['a reserved status', (d) => Object.assign(d, { status: 'partial:unbound' }), '/status'],
    [
      'a partial status without reason',
      (d) => Object.assign(d, { status: 'partial:correlation' }),
      '/status',
    ],
    [
      'a value in two parts',
      (d) => (d['surface']!['mcp_tools']!['added'] = ['read_file']),
      '/surface/mcp_tools/unchanged',
    ],
    [
      'values out of order',
      (d) => (d['surface']!['mcp_tools']!['added'] = ['b', 'a']),
      '/surface/mcp_tools/added/1',
    ],
    [
      'a value twice',
      (d) => (d['surface']!['mcp_tools']!['added'] = ['a', 'a']),
      '/surface/mcp_tools/added/1',
    ],
    ['one runtime twice', (d) => Object.assign(d, { head_runtime: 's5_openai_agents' }), '/head_runtime'],
    ['an unknown runtime', (d) => Object.assign(d, { head_runtime: 'x' }), '/head_runtime'],
    ['a comparison of bindings', (d) => (d['binding_ids']!['added'] = {}), '/binding_ids/added'],
    ['a missing note', (d) => Object.assign(d, { notes: [] }), '/notes'],
    ['a new non-claim', (d) => Object.assign(d, { non_claims: ['x'] }), '/non_claims'],
    ['an ambiguity', (d) => Object.assign(d, { ambiguities: ['x'] }), '/ambiguities'],
    [
      'an empty SDK name',
      (d) => (d['sdk_metadata']!['base']!['sdk_name'] = ''),
      '/sdk_metadata/base/sdk_name',
    ],
    ['a failed status on a full diff', (d) => Object.assign(d, { status: 'failed' }), '/surface/mcp_tools'],
  ])('finds %s', (_, change, place) => {
    const report = check(changed(crossed, change));

    expect(report.problems.map((problem) => problem.place)).toContain(place);
  });

  it('finds keys in another order', () => {
    const { schema, ...rest } = JSON.parse(capability) as Record<string, unknown>;
    const report = check(bytesOf(`${JSON.stringify({ ...rest, schema }, null, 2)}\n`));

    expect(report.problems).toEqual([
      expect.objectContaining({ found: expect.stringContaining('keys in the order') }),
    ]);
  });

  it('finds an outcome that did not change, and a missing idempotence note', () => {
    const same = changed(capability, (document) => {
      Object.assign(document['policy_outcomes'] ?? {}, {
        changed: [{ tool_call_id: 'tc_9', base: 'a', head: 'a' }],
      });
    });

    expect(check(same).problems.map((problem) => problem.place)).toEqual([
      '/policy_outcomes/changed/0/tool_call_id',
      '/policy_outcomes/changed/0',
      '/notes',
    ]);
  });

  it.each([
    ['compact JSON', JSON.stringify(JSON.parse(capability))],
    ['no newline at the end', capability.trimEnd()],
    ['raw non-ASCII text', capability.replace('read_file', 'é')],
  ])('finds %s', (_, text) => {
    expect(check(bytesOf(text)).problems).toEqual([
      expect.objectContaining({ place: expect.stringMatching(/^byte \d+$/) }),
    ]);
  });

  it.each(['', '[]', 'null', '{}', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, '\ufeff{}'])(
    'refuses %.20j',
    (text) => {
      expect(check(bytesOf(text))).toMatchObject({ contract: undefined, problems: [expect.anything()] });
    },
  );
});
