import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../main.ts';
import { recordedIo } from '../../testing/recorded-io.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weft-evidence-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function weft(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  return weftOn({ isTTY: false }, ...argv);
}

async function weftOn(terminal: { isTTY: boolean }, ...argv: string[]) {
  const io = recordedIo({ cwd: folder, ...terminal });
  const code = await main(['evidence', ...argv], io);
  return { code, out: io.out(), err: io.err() };
}

/** A run as a folder, clean unless its parts say otherwise. */
function lay(name: string, parts: { paths?: string[]; health?: object; sdk?: string } = {}): void {
  const schema = (kind: string): object => ({ schema: `assay.runner.${kind}.v0`, run_id: name });
  const files = {
    'observation-health.json': {
      ...schema('observation_health'),
      platform: 'linux',
      kernel_layer: 'complete',
      ringbuf_drops: 0,
      policy_layer: 'present',
      sdk_layer: 'self_reported',
      cgroup_correlation: 'clean',
      ...parts.health,
    },
    'capability-surface.json': {
      ...schema('capability_surface'),
      filesystem_paths: parts.paths ?? [`/${name}/in.txt`],
      network_endpoints: [],
      process_execs: [],
      mcp_tools: ['read_file'],
      policy_decisions: ['allow:read_file'],
    },
    'correlation-report.json': {
      ...schema('correlation_report'),
      status: 'clean',
      bindings: [{ tool_call_id: 'tc', policy_decision: 'allow' }],
      ambiguities: [],
    },
    'layers/sdk.ndjson': { ...schema('sdk_event'), sdk_name: 'sdk', sdk_version: '1' },
  };
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      file === 'layers/sdk.ndjson' && parts.sdk !== undefined ? parts.sdk : JSON.stringify(content),
    );
  }
}

const DECLARED = [
  ...['--base-runtime', 's5_openai_agents', '--head-runtime', 'gemini_google_genai'],
  ...['--base-prefix', '/a/', '--head-prefix', '/b/'],
];

describe('weft evidence diff', () => {
  it('prints the document, and nothing else, for clean evidence', async () => {
    lay('a');

    const result = await weft('diff', 'a', 'a');

    expect(result).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(result.out)).toMatchObject({
      status: 'clean',
      notes: [expect.stringContaining('idempotent')],
    });
    expect(result.out.endsWith('}\n')).toBe(true);
  });

  it('exits with 0 on any difference: it describes and does not judge', async () => {
    lay('a', { paths: ['/x'] });
    lay('b', { paths: ['/y'] });

    expect((await weft('diff', 'a', 'b', '--require', 'clean')).code).toBe(0);
  });

  it('prints partial evidence, says why, and exits with 4 when clean was required', async () => {
    lay('a', { health: { ringbuf_drops: 7 } });

    const result = await weft('diff', 'a', 'a', '--require', 'clean');

    expect(result.code).toBe(4);
    expect(JSON.parse(result.out)).toMatchObject({ status: 'partial:health' });
    expect(result.err).toContain('base observation-health.json /ringbuf_drops -> partial:health');
    expect((await weft('diff', 'a', 'a')).code).toBe(0);
  });

  it('prints nothing for evidence that cannot be compared, exits with 3, and gives every reason', async () => {
    lay('a', { health: { schema: 'x', run_id: '' } });

    const result = await weft('diff', 'a', 'nowhere');

    expect(result).toMatchObject({ code: 3, out: '' });
    for (const word of ['/schema', '/run_id', 'nowhere']) expect(result.err).toContain(word);
  });

  it('gives the reasons as JSON to programs', async () => {
    const result = await weft('diff', 'x', 'y', '--json');

    expect(JSON.parse(result.err)).toMatchObject({
      error: 'evidence_unusable',
      details: { problems: [{ side: 'base', code: 'unreadable' }, { side: 'head' }] },
    });
  });

  it('writes a failed document only when asked, and still exits with 3', async () => {
    const result = await weft('diff', 'x', 'y', '--emit-failed');

    expect(result.code).toBe(3);
    expect(JSON.parse(result.out)).toMatchObject({ status: 'failed', base_run_id: '' });
  });

  it('shows a report on a terminal and the document to programs', async () => {
    lay('a');

    expect((await weftOn({ isTTY: true }, 'diff', 'a', 'a')).out).toContain('Capability diff v0: clean');
    expect((await weftOn({ isTTY: true }, 'diff', 'a', 'a', '--json')).out).toBe(
      (await weft('diff', 'a', 'a')).out,
    );
    expect((await weft('diff', 'a', 'a', '--view')).out).toContain('Capability diff v0: clean');
  });

  it('writes files whole, and never over its input', async () => {
    lay('a');

    const written = await weft('diff', 'a', 'a', '--output', 'diff.json', '--html', 'diff.html');
    const refused = await weft('diff', 'a', 'a', '--output', 'a/observation-health.json');
    const unwritable = await weft('diff', 'a', 'a', '--output', 'missing/diff.json');

    expect(written).toEqual({ code: 0, out: '', err: '' });
    expect(readFileSync(join(folder, 'diff.json'), 'utf8')).toBe((await weft('diff', 'a', 'a')).out);
    expect(readFileSync(join(folder, 'diff.html'), 'utf8')).toContain('<!doctype html>');
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('part of the input') });
    expect(unwritable).toMatchObject({ code: 3, err: expect.stringContaining('cannot be written') });
    expect(readdirSync(folder).sort()).toEqual(['a', 'diff.html', 'diff.json']);
  });

  it('refuses runs above --max-bytes', async () => {
    lay('a');

    expect((await weft('diff', 'a', 'a', '--max-bytes', '100')).code).toBe(3);
    expect((await weft('diff', 'a', 'a', '--max-bytes', 'lots')).code).toBe(2);
  });
});

describe('weft evidence cross', () => {
  it('takes each work dir out and reports the rest', async () => {
    lay('a', { paths: ['/a/in.txt', '/a/own.txt'] });
    lay('b', { paths: ['/b/in.txt'] });

    const result = await weft('cross', 'a', 'b', ...DECLARED);

    expect(result.code).toBe(0);
    expect(JSON.parse(result.out)).toMatchObject({
      status: 'clean',
      surface: { filesystem_paths: { added: [], removed: ['<work>/own.txt'], unchanged: ['<work>/in.txt'] } },
    });
  });

  it('guesses nothing that was not declared', async () => {
    lay('a');
    lay('b');

    const result = await weft('cross', 'a', 'b', '--base-prefix', '/a');

    expect(result).toMatchObject({ code: 3, out: '' });
    for (const field of ['base_runtime', 'head_runtime', 'base_work_dir_prefix', 'head_work_dir_prefix'])
      expect(result.err).toContain(field);
  });
});

describe('weft evidence explain', () => {
  it('says nothing is wrong when nothing is', async () => {
    lay('a');

    expect(await weft('explain', 'a', 'a')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^clean: .*\n$/),
    });
  });

  it('lists file, field, found, needed and what may still be read', async () => {
    lay('a', { health: { policy_layer: 'absent' } });
    lay('b', { sdk: 'broken\n' });

    const text = await weft('explain', 'a', 'b', ...DECLARED);
    const json = await weft('explain', 'a', 'b', ...DECLARED, '--json');

    expect(text).toMatchObject({ code: 3, err: '' });
    expect(text.out).toContain('found   "absent"');
    expect(text.out).toContain('head layers/sdk.ndjson line 1 -> failed');
    expect(JSON.parse(json.out)).toMatchObject({ status: 'failed', reasons: expect.any(Array) });
  });
});

describe('weft evidence check', () => {
  it('accepts what diff writes and finds what was changed in it', async () => {
    lay('a');
    await weft('diff', 'a', 'a', '--output', 'good.json');
    const good = readFileSync(join(folder, 'good.json'), 'utf8');
    writeFileSync(join(folder, 'bad.json'), good.replace('"clean"', '"failed"'));

    expect(await weft('check', 'good.json', '--require', 'clean')).toMatchObject({ code: 0 });
    expect(await weft('check', 'bad.json')).toMatchObject({
      code: 3,
      out: expect.stringContaining('/surface/mcp_tools'),
    });
    expect(await weft('check', 'nowhere.json')).toMatchObject({ code: 3, out: '' });
  });

  it('exits with 4 for a sound document that is not clean, when clean was required', async () => {
    lay('a', { health: { ringbuf_drops: 1 } });
    await weft('diff', 'a', 'a', '--output', 'partial.json');

    expect((await weft('check', 'partial.json')).code).toBe(0);
    expect((await weft('check', 'partial.json', '--require', 'clean')).code).toBe(4);
  });
});

describe('weft evidence show', () => {
  it('shows one run', async () => {
    lay('a');

    const text = await weft('show', 'a');

    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toContain('kernel_layer');
    expect(JSON.parse((await weft('show', 'a', '--json')).out)).toMatchObject({
      run_id: 'a',
      surface: { mcp_tools: 1 },
    });
    expect((await weft('show', 'nowhere')).code).toBe(3);
  });
});

describe('weft evidence matrix', () => {
  it('compares several runs and writes a diff for every pair', async () => {
    for (const name of ['a', 'b', 'c']) lay(name);
    const prefixes = ['a', 'b', 'c'].flatMap((name) => ['--prefix', `/${name}/`]);

    const result = await weft('matrix', 'a', 'b', 'c', ...prefixes, '--cells', 'cells', '--json');

    expect(result).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(result.out)).toMatchObject({
      schema: 'weft.evidence_matrix.v0',
      values: {
        filesystem_paths: [{ value: '<work>/in.txt', seen: [{ in: 3, of: 3, presence: 'stable' }] }],
      },
    });
    expect(readdirSync(join(folder, 'cells')).sort()).toEqual(['0-1.json', '0-2.json', '1-2.json']);
    expect((await weft('check', 'cells/0-1.json')).code).toBe(0);
  });

  it('wants at least two runs, and as many prefixes as runs', async () => {
    lay('a');

    expect((await weft('matrix', 'a')).code).toBe(2);
    expect((await weft('matrix', 'a', 'a', 'a', '--prefix', '/a/', '--prefix', '/b/')).code).toBe(2);
    expect(existsSync(join(folder, 'cells'))).toBe(false);
  });
});
