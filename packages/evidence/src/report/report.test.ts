import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cross } from '../contract/cross.ts';
import { evidenceFromFiles } from '../from-files.ts';
import { matrix } from '../matrix/matrix.ts';
import { matrixDocument, matrixText } from '../matrix/matrix-document.ts';
import { show } from '../show.ts';
import { DECLARED, runFiles, type RunParts } from '../testing/runs.ts';
import { htmlReport } from './html-report.ts';
import { reportModel } from './report-model.ts';
import { textReport } from './text-report.ts';

const HOSTILE = '</script><script>alert(1)</script>\u001b[31m\u202e';

function modelOf(base: RunParts = {}) {
  const [before, after] = [
    evidenceFromFiles(runFiles(base), { workDirPrefix: '/w/a/', keepRawPaths: true }),
    evidenceFromFiles(runFiles({ surface: { filesystem_paths: ['/w/b/in.txt'] } }), {
      workDirPrefix: '/w/b/',
      keepRawPaths: true,
    }),
  ];
  return reportModel(cross(before, after, DECLARED), before, after);
}

describe('the terminal report', () => {
  it('shows counts, both forms of a value, the declared runtime next to the SDK, and what is not claimed', () => {
    const text = textReport(modelOf(), 10);

    expect(text).toContain('filesystem_paths: 0 head only, 1 base only, 1 both');
    expect(text).toContain('base only  "<work>/out.txt"\n             observed as "/w/a/out.txt"');
    expect(text).toContain('runtime as declared: s5_openai_agents  SDK as it says: agents-sdk 1.2.3');
    expect(text).toContain('cross_runtime_no_acceptability_judgment');
  });

  it('lets no value drive the terminal, and judges in no colour', () => {
    const text = textReport(modelOf({ surface: { mcp_tools: [HOSTILE] } }), 10);

    expect(text).not.toMatch(/[\u001b\u202e]/);
    expect(text).toContain('\\u202e');
  });
});

describe('the HTML report', () => {
  it('is one file without a way out', () => {
    const html = htmlReport(modelOf());

    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/(src|href)=|url\(|@import|https?:/);
  });

  it('runs and shows what it brings along and nothing else, known by its digest', () => {
    const html = htmlReport(modelOf());
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];

    const digest = (element: RegExp): string =>
      `'sha256-${createHash('sha256')
        .update(element.exec(html)?.[1] ?? '')
        .digest('base64')}'`;
    const [style, script] = [digest(/<style>(.*?)<\/style>/s), digest(/<script>(.*?)<\/script>/s)];
    expect(policy).toBe(
      `default-src 'none'; style-src ${style}; script-src ${script}; base-uri 'none'; form-action 'none'`,
    );
    expect(html).not.toMatch(/unsafe|<[^>]* (?:style|on\w+)=/i);
  });

  it('holds every value as data that cannot become markup', () => {
    const html = htmlReport(modelOf({ surface: { mcp_tools: [HOSTILE] } }));

    const data = /<script type="application\/json" id="model">(.*?)<\/script>/s.exec(html)?.[1] ?? '';
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(JSON.stringify(JSON.parse(data))).toBe(
      JSON.stringify(modelOf({ surface: { mcp_tools: [HOSTILE] } })),
    );
  });

  it('has no colour that judges, and a script that is one', () => {
    const html = htmlReport(modelOf());
    const script = /<script>(.*?)<\/script>/s.exec(html)?.[1] ?? '';

    expect(html).not.toMatch(/\b(red|green|#[0-9a-f]{3,6}|rgb|hsl)\b/i);
    // oxlint-disable-next-line no-implied-eval -- the page's own script must at least parse
    expect(() => new Function(script)).not.toThrow();
  });
});

describe('the matrix', () => {
  const runOf = (paths: string[], prefix: string) =>
    evidenceFromFiles(runFiles({ surface: { filesystem_paths: paths } }), {
      workDirPrefix: prefix,
      keepRawPaths: true,
    });
  const result = matrix([
    { label: 'a1', runtime: 's5_openai_agents', evidence: runOf(['/1/x', '/1/y'], '/1/') },
    { label: 'a2', runtime: 's5_openai_agents', evidence: runOf(['/2/x'], '/2/') },
    { label: 'b1', runtime: 'gemini_google_genai', evidence: runOf(['/3/x', '/3/z'], '/3/') },
    { label: 'broken', runtime: 'gemini_google_genai', evidence: evidenceFromFiles({}) },
  ]);

  it('distinguishes values that stay from values that come and go, per runtime', () => {
    const rows = result.values.filesystem_paths.map(({ value, seen }) => [
      value,
      ...seen.map((group) => group.presence),
    ]);

    expect(rows).toEqual([
      ['<work>/x', 'stable', 'stable'],
      ['<work>/y', 'flickers', 'absent'],
      ['<work>/z', 'absent', 'stable'],
    ]);
  });

  it('has an ordinary diff for every pair', () => {
    expect(
      result.cells.map((cell) => [
        cell.base,
        cell.head,
        cell.projection.diff.contract,
        cell.projection.diff.status,
      ]),
    ).toEqual([
      [0, 1, 'capability', 'clean'],
      [0, 2, 'cross', 'clean'],
      [0, 3, 'cross', 'failed'],
      [1, 2, 'cross', 'clean'],
      [1, 3, 'cross', 'failed'],
      [2, 3, 'capability', 'failed'],
    ]);
  });

  it('counts only runs that can be read, and says so', () => {
    expect(matrixDocument(result).groups).toEqual([
      { runtime: 's5_openai_agents', runs: 2 },
      { runtime: 'gemini_google_genai', runs: 1 },
    ]);
    expect(matrixText(result, 1)).toContain('… 2 more');
    expect(matrixText(result, 1)).toContain('not usable');
  });

  it('lets no label and no value drive the terminal or begin a line', () => {
    const label = 'a\nrun 9  forged\u001b[31m\u202e\u200b\u009b';
    const text = matrixText(matrix([{ label, runtime: label, evidence: runOf(['/1/x\u009b'], '/1/') }]), 5);

    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).not.toMatch(/^run 9/m);
  });
});

describe('one run', () => {
  it('is summed up', () => {
    expect(show(evidenceFromFiles(runFiles()))).toMatchObject({
      run_id: 'run_1',
      health: { clean: true, fields: { platform: 'linux' } },
      surface: { filesystem_paths: 2, mcp_tools: 1 },
      correlation: { clean: true, bindings: 1 },
      sdk: { sdk_name: 'agents-sdk', events: 1 },
      problems: [],
    });
  });
});
