import { createHash } from 'node:crypto';
import { alignByNode, fieldChanges } from '@weft/engine/compare';
import type { Json } from '@weft/protocol';
import type { EventDifferenceDocument, RunEventDocument } from '@weft/sdk';
import { describe, expect, it } from 'vitest';
import { COLOURED, PLAIN } from '../style.ts';
import { terminalText } from '../terminal-text.ts';
import { renderDiffHtml } from './html-view.ts';
import { readDiff } from './read-diff.ts';
import type { DiffReport } from './report.ts';
import { parseSide } from './side.ts';
import { renderDiffText } from './text-view.ts';

function event(sequence: number, type: string, nodeId: string | undefined, payload: Json): RunEventDocument {
  return {
    eventId: `r:${sequence}`,
    runId: 'r',
    sequence,
    type,
    payload,
    timestamp: '2026-01-01T00:00:00.000Z',
    ...(nodeId !== undefined && { nodeId }),
  };
}

const completed = (sequence: number, nodeId: string, output: Json): RunEventDocument =>
  event(sequence, 'node.completed', nodeId, { nodeId, output });

describe('a side', () => {
  it('is a run id, or the URL of a run', () => {
    expect(parseSide('-abc_1')).toEqual({ kind: 'run', runId: '-abc_1' });
    expect(parseSide('https://host.test/weft/v1/runs/a%20b')).toEqual({
      kind: 'run',
      runId: 'a b',
      host: 'https://host.test/weft',
    });
  });

  it.each(['run.json', 'run.json.gz', './run', '../run', '/tmp/run', 'b.GZ'])('is a bundle: %s', (file) => {
    expect(parseSide(file)).toEqual({ kind: 'bundle', file });
  });

  it.each([
    '',
    'a/b',
    'a:diff',
    'http://host.test/',
    'http://host.test/v1/runs/a:diff',
    'http://u:p@h/v1/runs/a',
  ])('is not "%s"', (text) => {
    expect(() => parseSide(text)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});

describe('the fields of two values', () => {
  it('that differ are named by their paths, absent ones without a value', () => {
    const a: Json = { same: 1, list: [1, { x: 1 }], gone: null, 'odd key': 1 };
    const b: Json = { same: 1, list: [1, { x: 2 }, 3], 'odd key': 2 };

    expect(fieldChanges(a, b)).toEqual([
      { path: 'gone', a: null },
      { path: 'list[1].x', a: 1, b: 2 },
      { path: 'list[2]', b: 3 },
      { path: '["odd key"]', a: 1, b: 2 },
    ]);
  });

  it('may be called like what every object has', () => {
    expect(fieldChanges(JSON.parse('{"__proto__":1}') as Json, { toString: 2 })).toEqual([
      { path: '__proto__', a: 1 },
      { path: 'toString', b: 2 },
    ]);
  });
});

describe('a document that arrives in pieces', () => {
  const document = {
    stateDiff: { variables: { a: { eventDiffs: [{ op: 'no' }] }, b: null } },
    eventDiffs: [
      { seq: 3, op: 'removed', aEvent: { payload: ['},{', '"]', { deep: [[]] }] } },
      { op: 'added', seq: 4, bEvent: {} },
    ],
    truncated: true,
    divergedAtSeq: 3,
    a: 'x',
    b: 'y',
  };

  async function* cut(text: string, length: number): AsyncGenerator<string> {
    for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length);
  }

  it.each([1, 2, 7, 10_000])(
    'is read the same in pieces of %i, whatever the order of its members',
    async (length) => {
      for (const text of [JSON.stringify(document), JSON.stringify(document, null, 2)]) {
        const reader = readDiff(cut(text, length));
        const found: EventDifferenceDocument[] = [];

        for await (const difference of reader.differences) found.push(difference);

        expect(found).toEqual(document.eventDiffs);
        const { divergedAtSeq, stateDiff, truncated } = document;
        expect(reader.outline()).toEqual({ divergedAtSeq, stateDiff, truncated });
      }
    },
  );

  it('and is none is refused', () => {
    expect(() => readDiff(cut('<html>', 3)).outline()).toThrow(expect.objectContaining({ exitCode: 3 }));
  });
});

describe('events paired by node', () => {
  it('are found again after an insertion, and only what differs is given', () => {
    const a = [completed(0, 'x', 1), completed(1, 'y', 1), completed(2, 'z', 1)];
    const b = [completed(0, 'x', 1), completed(1, 'new', 1), completed(2, 'y', 2), completed(3, 'z', 1)];

    expect(alignByNode(a, b)).toEqual([{ bEvent: b[1] }, { aEvent: a[1], bEvent: b[2] }]);
  });

  it('are paired by occurrence, and by iteration inside loops', () => {
    const retried = (sequence: number) =>
      event(sequence, 'node.started', 'x', { nodeId: 'x', iteration: [1] });
    const a = [retried(0), retried(1), completed(2, 'x', 1)];
    const b = [completed(0, 'x', 1), retried(1)];

    expect(alignByNode(a, b)).toEqual([{ aEvent: a[1] }]);
  });
});

const run = { runId: 'r', workflowId: 'w', status: 'completed' } as const;

function report(rest: Partial<DiffReport>): DiffReport {
  return {
    a: { label: 'first', run },
    b: { label: 'second', run: { ...run, status: 'failed' } },
    first: undefined,
    differences: [],
    total: 0,
    outline: { divergedAtSeq: null, stateDiff: {}, truncated: false },
    aligned: undefined,
    ...rest,
  };
}

const changed: EventDifferenceDocument = {
  seq: 4,
  op: 'changed',
  aEvent: event(4, 'node.completed', 'fetch', {
    nodeId: 'fetch',
    runId: 'a',
    output: { status: 200, size: 1 },
  }),
  bEvent: event(4, 'node.completed', 'fetch', {
    nodeId: 'fetch',
    runId: 'b',
    output: { status: 500, size: 1 },
  }),
};
const added: EventDifferenceDocument = {
  seq: 5,
  op: 'added',
  bEvent: completed(5, 'end', 'x\u202Ey\u001B[31m'),
};

describe('the view on a terminal', () => {
  it('has both runs and the first difference on top, then the differences by node, field by field', () => {
    const text = renderDiffText(
      PLAIN,
      report({
        first: changed,
        differences: [changed, added],
        total: 60,
        outline: {
          divergedAtSeq: 4,
          stateDiff: { status: { a: 'completed', b: 'failed' } },
          truncated: false,
        },
      }),
      100,
    );

    expect(text).toBe(
      [
        'a  first  completed  w',
        'b  second  failed  w',
        '',
        'First difference at #4; 60 events differ.  node.completed, node fetch',
        '',
        'state',
        '  status  "completed" → "failed"',
        '',
        'node fetch',
        '  ~ #4 node.completed',
        '      output.status  200 → 500',
        '',
        'node end',
        '  + #5 node.completed  {"nodeId":"end","output":"x\\u202ey\\u001b[31m"}',
        '',
        '… and 58 more (--all)',
      ].join('\n'),
    );
  });

  it('says when there is no difference, and when a run has not ended', () => {
    expect(renderDiffText(PLAIN, report({}), 100)).toMatch(/^No difference\.$/m);
    const outline = { divergedAtSeq: null, stateDiff: {}, truncated: true };
    expect(renderDiffText(PLAIN, report({ outline }), 100)).toContain('has not ended');
  });

  it('marks the second view as not the protocol’s', () => {
    const aligned = { pairs: [added], total: 1 };

    expect(renderDiffText(PLAIN, report({ aligned }), 100)).toContain('(not the protocol’s diff)');
  });

  it('has colours only when the style has', () => {
    const shown = report({ first: added, differences: [added], total: 1 });

    expect(renderDiffText(PLAIN, shown, 100)).not.toContain('\u001B');
    expect(terminalText(renderDiffText(COLOURED, shown, 100))).toContain('\u001B[32m+ #5');
  });
});

describe('the page', () => {
  it('holds every text escaped, and nothing that runs or is fetched', () => {
    const nasty = '<script>alert("1")</script>';
    const evil: EventDifferenceDocument = {
      seq: 1,
      op: 'changed',
      aEvent: event(1, nasty, nasty, { [nasty]: nasty }),
      bEvent: event(1, nasty, nasty, { [nasty]: "'&" }),
    };

    const page = renderDiffHtml(
      report({
        a: { label: nasty, run: { ...run, workflowId: nasty } },
        first: evil,
        differences: [evil, { seq: 2, op: 'added', bEvent: event(2, nasty, undefined, nasty) }],
        total: 1_002,
        outline: {
          divergedAtSeq: 1,
          stateDiff: { variables: { a: { [nasty]: 1 }, b: null } },
          truncated: true,
        },
        aligned: { pairs: [{ aEvent: event(1, nasty, nasty, nasty) }], total: 1 },
      }),
    );

    expect(page).not.toMatch(/<script|<img|<link|https?:/i);
    expect(page).toContain('&lt;script&gt;alert(');
    const style = createHash('sha256')
      .update(/<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '')
      .digest('base64');
    expect(page).toContain(`content="default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'`);
    expect(page).not.toMatch(/unsafe-inline|<[^>]* (?:style|on\w+)=/i);
    expect(page).toContain('… and 1000 more (--all)');
    expect(
      page.match(
        /<(?!\/?(?:html|head|meta|title|style|body|header|h1|h2|p|br|main|section|table|tr|th|td|code|details|summary|strong)\b|!doctype)/gi,
      ),
    ).toBeNull();
  });
});
