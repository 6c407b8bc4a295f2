import { describe, expect, it } from 'vitest';
import type { RunEventDocument } from '@weft/sdk';
import { shielded } from '../io.ts';
import { recordedIo } from '../testing/recorded-io.ts';
import { createLiveView, cut } from './live-view.ts';
import { applyEvent, newProgress } from './run-progress.ts';
import { eventLine, outcomeText, renderProgress } from './run-view.ts';
import { COLOURED, PLAIN, styleFor } from './style.ts';
import { terminalText } from './terminal-text.ts';
import { renderTable } from './table.ts';
import { agoText, durationText } from './time-text.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');

function event(
  sequence: number,
  type: string,
  ms: number,
  payload: RunEventDocument['payload'] = {},
): RunEventDocument {
  const nodeId =
    type.startsWith('node.') && 'nodeId' in Object(payload)
      ? { nodeId: (payload as { nodeId: string }).nodeId }
      : {};
  return {
    eventId: `e${sequence}`,
    runId: 'r1',
    type,
    payload,
    timestamp: new Date(T0 + ms).toISOString(),
    sequence,
    ...nodeId,
  };
}

const RUN: readonly RunEventDocument[] = [
  event(0, 'run.started', 0),
  event(1, 'node.started', 1, { nodeId: 'charge', typeId: 'core.fail', attempt: 0 }),
  event(2, 'node.retried', 2, {
    nodeId: 'charge',
    attempt: 1,
    delayMs: 200,
    lastError: { code: 'gateway', message: 'down' },
  }),
  event(3, 'node.started', 202, { nodeId: 'charge', typeId: 'core.fail', attempt: 1 }),
  event(4, 'node.failed', 203, {
    nodeId: 'charge',
    error: { code: 'gateway', message: 'down' },
    attempts: 2,
  }),
  event(5, 'node.started', 204, { nodeId: 'price', iteration: [2] }),
  event(6, 'node.completed', 1204, { nodeId: 'price', iteration: [2], outputs: { amount: 3 } }),
  event(7, 'node.skipped', 1205, { nodeId: 'receipt', reason: 'rule' }),
  event(8, 'run.failed', 1300, { error: { code: 'gateway', message: 'down' }, failedNodeId: 'charge' }),
];

describe('the view of a run', () => {
  it('shows every node with its state, its time and what is worth knowing', () => {
    const progress = newProgress('r1');
    for (const item of RUN) applyEvent(progress, item);

    const text = renderProgress(PLAIN, progress, T0 + 9999);

    expect(text.split('\n').map((line) => line.trimEnd())).toEqual([
      'r1  failed  1.3 s',
      'NODE      STATUS       TIME',
      'charge    failed     202 ms  attempt 2  gateway: down',
      'price[2]  completed   1.0 s',
      'receipt   skipped            rule',
    ]);
  });

  it('says that a run waits when a question is open and nothing else runs', () => {
    const progress = newProgress('r1');
    const head = (): string | undefined => renderProgress(PLAIN, progress, T0).split('\n')[0];
    applyEvent(progress, event(0, 'run.started', 0));
    applyEvent(progress, event(1, 'node.started', 0, { nodeId: 'gate' }));
    applyEvent(progress, event(2, 'node.started', 0, { nodeId: 'other' }));
    applyEvent(progress, event(3, 'node.suspended', 0, { nodeId: 'gate', kind: 'approval' }));

    expect(head()).toBe('r1  running  0 ms');

    applyEvent(progress, event(4, 'node.completed', 0, { nodeId: 'other' }));
    expect(head()).toBe('r1  waiting-approval  0 ms');

    applyEvent(progress, event(5, 'node.resumed', 0, { nodeId: 'gate' }));
    expect(head()).toBe('r1  running  0 ms');
  });

  it.each([
    ['conversation.exchange', 'waiting-approval'],
    ['external-event', 'waiting-external'],
    ['from-the-future', 'waiting-input'],
  ])('says of a run that waits for %s what its host says: %s', (kind, status) => {
    const progress = newProgress('r1');
    applyEvent(progress, event(0, 'run.started', 0));
    applyEvent(progress, event(1, 'node.started', 0, { nodeId: 'gate' }));

    applyEvent(progress, event(2, 'node.suspended', 0, { nodeId: 'gate', kind }));

    expect(renderProgress(PLAIN, progress, T0).split('\n')[0]).toBe(`r1  ${status}  0 ms`);
  });

  it('shows what was asked and who answered', () => {
    const asked = event(1, 'interrupt.requested', 0, { nodeId: 'gate', data: { title: 'Pay 800?' } });
    const vote = event(2, 'approval.received', 0, {
      action: 'reject',
      decidedBy: 'ada',
      feedback: 'no receipt',
    });

    expect(eventLine(PLAIN, asked, T0)).toContain('interrupt.requested   Pay 800?');
    expect(eventLine(PLAIN, vote, T0)).toContain('reject by ada: no receipt');
  });

  it('ends with the outcome, the error and the node it came from', () => {
    const progress = newProgress('r1');
    for (const item of RUN) applyEvent(progress, item);

    expect(outcomeText(PLAIN, progress)).toBe(
      'Run r1 failed in 1.3 s (9 events).\ngateway at node charge: down',
    );
  });

  it('shows the outputs of a completed run', () => {
    const progress = newProgress('r1');
    applyEvent(progress, event(0, 'run.started', 0));
    applyEvent(progress, event(1, 'run.completed', 5, { outputs: { total: 180 } }));

    expect(outcomeText(PLAIN, progress)).toBe(
      'Run r1 completed in 5 ms (2 events).\nOutputs:\n{\n  "total": 180\n}',
    );
  });

  it('hides finished nodes first when there are many', () => {
    const progress = newProgress('r1');
    applyEvent(progress, event(0, 'node.started', 0, { nodeId: 'slow' }));
    for (let index = 0; index < 40; index += 1) {
      applyEvent(progress, event(index + 1, 'node.completed', 1, { nodeId: 'work', iteration: [index] }));
    }

    const text = renderProgress(PLAIN, progress, T0);

    expect(text).toContain('slow');
    expect(text).toContain('work[39]');
    expect(text).not.toContain('work[0]');
    expect(text).toContain('… and 21 more nodes');
  });

  it('writes one line per event where nothing can be redrawn', () => {
    const lines = RUN.slice(4, 7).map((item) => eventLine(PLAIN, item, T0));

    expect(lines).toEqual([
      '    4    +0.203s  node.failed      charge  gateway: down',
      '    5    +0.204s  node.started     price[2]',
      '    6    +1.204s  node.completed   price[2]  {"amount":3}',
    ]);
  });
});

describe('text for people', () => {
  it('aligns columns and keeps control characters away from the terminal', () => {
    const table = renderTable(
      PLAIN,
      [
        { title: 'A', value: (row: { a: string; b: number }) => row.a },
        { title: 'N', value: (row) => String(row.b), align: 'right' },
      ],
      [
        { a: 'x\u001B[31m', b: 1 },
        { a: 'longer', b: 100 },
      ],
    );

    expect(table.split('\n')).toEqual(['A              N', 'x\\u001b[31m    1', 'longer       100']);
  });

  it('uses two units at most for a duration', () => {
    expect([0, 999, 1234, 200_000, 7_500_000, 90_000_000].map(durationText)).toEqual([
      '0 ms',
      '999 ms',
      '1.2 s',
      '3 min 20 s',
      '2 h 5 min',
      '1 d 1 h',
    ]);
    expect(agoText('2026-01-01T00:00:00Z', T0 + 5400)).toBe('5 s ago');
  });

  it('has colours only on a terminal and never against NO_COLOR', () => {
    expect(styleFor(true, {})).toBe(COLOURED);
    expect(styleFor(true, { NO_COLOR: '1' })).toBe(PLAIN);
    expect(styleFor(true, { NO_COLOR: '' })).toBe(COLOURED);
    expect(styleFor(false, {})).toBe(PLAIN);
  });

  it('writes messages above the block that is redrawn', () => {
    const io = recordedIo({ cwd: '/nowhere', isTTY: true });
    const view = createLiveView(shielded(io));

    view.draw('one\ntwo');
    view.say('answer me');
    view.draw('one\ntwo');

    expect(io.out()).toBe(
      '\u001B[G\u001B[Jone\ntwo\n\u001B[2A\u001B[G\u001B[Janswer me\n\u001B[G\u001B[Jone\ntwo\n',
    );
  });

  it('cuts a line to the terminal without counting colours', () => {
    expect(terminalText(cut(`${COLOURED.red('failed')} and more`, 8))).toBe('\u001B[31mfailed\u001B[39m a');
  });
});
