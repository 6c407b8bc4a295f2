import type { RunEventDocument } from '@weft/sdk';
import { describe, expect, it } from 'vitest';
import { type ShownIo, shielded } from '../io.ts';
import { recordedIo } from '../testing/recorded-io.ts';
import { createScreen, type Screen } from '../testing/screen.ts';
import { createLiveView, type LiveView } from './live-view.ts';
import { applyEvent, newProgress, type RunProgress } from './run-progress.ts';
import { renderProgress } from './run-view.ts';
import { COLOURED } from './style.ts';

const T0 = Date.parse('2026-01-01T00:00:00.000Z');

interface Watched {
  readonly screen: Screen;
  readonly view: LiveView;
  readonly progress: RunProgress;
  /** An event of a node, and what is drawn after it. */
  see(type: string, nodeId: string, iteration?: number): void;
}

function watched(columns: number, rows: number): Watched {
  const screen = createScreen(columns, rows);
  const io: ShownIo = shielded({ ...recordedIo({ cwd: '/', isTTY: true }), stdout: screen, columns, rows });
  const view = createLiveView(io);
  const progress = newProgress('01a1e1cd-927b-7000-9769-26166269a903');
  let sequence = 0;
  const see: Watched['see'] = (type, nodeId, iteration) => {
    const payload = { nodeId, ...(iteration !== undefined && { iteration: [iteration] }) };
    const event: RunEventDocument = {
      eventId: `e${sequence}`,
      runId: progress.runId,
      type,
      payload,
      nodeId,
      timestamp: new Date(T0 + sequence).toISOString(),
      sequence: sequence++,
    };
    applyEvent(progress, event);
    view.draw(renderProgress(COLOURED, progress, T0 + sequence, io.rows));
  };
  return { screen, view, progress, see };
}

describe('the live view', () => {
  it.each([
    [80, 24],
    [80, 10],
    [40, 6],
    [20, 3],
  ])('of a loop of 30 stays on a terminal of %i × %i', (columns, rows) => {
    const { screen, see } = watched(columns, rows);

    see('run.started', 'lines');
    see('node.started', 'lines');
    for (let index = 0; index < 30; index += 1) {
      for (const node of ['price', 'sum']) {
        see('node.started', node, index);
        see('node.completed', node, index);
      }
    }

    expect(screen.scrollback()).toEqual([]);
    expect(screen.visible()[0]).toContain('01a1e1cd');
  });

  it('keeps the nodes that are active in sight, then those that failed, then the newest', () => {
    const { screen, see } = watched(80, 10);

    see('node.started', 'slow');
    see('node.started', 'broken');
    see('node.failed', 'broken');
    for (let index = 0; index < 30; index += 1) {
      see('node.started', 'work', index);
      if (index < 29) see('node.completed', 'work', index);
    }

    const text = screen.visible().join('\n');
    expect(text).toMatch(/^slow +running/m);
    expect(text).toMatch(/^broken +failed/m);
    expect(text).toMatch(/^work\[29\] +running/m);
    expect(text).toMatch(/^work\[28\] +completed/m);
    expect(text).toContain('… and 26 more nodes');
    expect(screen.visible()).toHaveLength(9);
  });

  it('says that there are more active nodes than fit', () => {
    const { screen, see } = watched(80, 10);

    for (let index = 0; index < 30; index += 1) see('node.started', 'work', index);

    expect(screen.visible().at(-1)).toContain('… and 24 more nodes, 24 of them active');
    expect(screen.scrollback()).toEqual([]);
  });
});
