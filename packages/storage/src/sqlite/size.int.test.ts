import { statSync } from 'node:fs';
import type { RunUnit, StoredEvent } from '@weft/engine';
import { appendUnit, createUnit, given, newRunId, START } from '@weft/engine/store-contract';
import { expect, it } from 'vitest';
import { openSqliteStore } from './index.ts';
import { testFolder } from './testing/sqlite-test-folder.ts';

const { newPath } = testFolder();
const RUNS = 2_000;
const GROUP = 50;

const PAYLOADS: Record<string, string> = {
  'run.started': '{"workflowId":"greet","workflowVersion":"1.0.0","transport":"rest"}',
  'node.started': '{"typeId":"core.noop","attempt":0,"invocationId":"step-1:0"}',
  'node.completed': '{"typeId":"core.noop","attempt":0,"outputs":{"value":"a small result"}}',
  'run.completed': '{"outputs":{"value":"a small result"}}',
};

/** The log of a run of `nodes` nodes in a row, each with an effect. */
function logOf(nodes: number, at: number): StoredEvent[] {
  const types = [
    'run.started',
    ...Array.from({ length: nodes }, () => ['node.started', 'node.completed']).flat(),
    'run.completed',
  ];
  return types.map((type, seq) => ({
    seq,
    type,
    at: at + seq,
    payload: PAYLOADS[type] ?? '{}',
    ...(type.startsWith('node') && { nodeId: `step-${Math.ceil(seq / 2)}`, causeSeq: seq - 1 }),
  }));
}

/** Bytes per run when every outcome is committed before the next effect: file growth after a checkpoint, indexes included. */
async function bytesPerRun(nodes: number): Promise<number> {
  const path = newPath();
  await openSqliteStore({ path }).close();
  const before = statSync(path).size;
  const store = openSqliteStore({ path });
  for (let first = 0; first < RUNS; first += GROUP) {
    const runs = Array.from({ length: GROUP }, (_, index) => {
      const at = START + first + index;
      return { runId: newRunId(at), at, log: logOf(nodes, at) };
    });
    const record = { principal: 'usr_local' };
    await given(
      store,
      ...runs.map(({ runId, at, log }) =>
        createUnit(runId, { holder: 'h1', events: log.slice(0, 2), record: { ...record, createdAt: at } }),
      ),
    );
    for (let seq = 2; seq < nodes * 2 + 2; seq += 2) {
      const isLast = seq === nodes * 2;
      const head: RunUnit['head'] = isLast
        ? { status: 'completed', wakeAt: null, startedAt: START, endedAt: START + 9 }
        : { status: 'running', wakeAt: 0, startedAt: START };
      await given(
        store,
        ...runs.map(({ runId, log }) => appendUnit(runId, seq, { events: log.slice(seq, seq + 2), head })),
      );
    }
  }
  await store.close();
  return Math.round((statSync(path).size - before) / RUNS);
}

it('keeps a run of 4 small events below 900 bytes, and one of 22 below 3,300', async () => {
  const [small, large] = [await bytesPerRun(1), await bytesPerRun(10)];

  expect(small).toBeLessThan(900);
  expect(large).toBeLessThan(3_300);
});
