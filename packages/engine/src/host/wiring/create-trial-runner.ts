import { isTerminalStatus } from '../../model/run-state.ts';
import { SYSTEM_CLOCK } from '../../ports/clock.ts';
import type { TrialRequest } from '../../ports/trials.ts';
import { batchUnit, decideBatch } from '../../runtime/scheduling/decide-batch.ts';
import { loadRun } from '../../runtime/scheduling/load-run.ts';
import type { HostOptions } from '../host-options.ts';
import { createRuntime } from './create-runtime.ts';
import { openStores } from './open-stores.ts';
import { settingsFrom } from './settings.ts';

/** For the process apart (ports/trials.ts): loads and decides as a host with these options does, and writes nothing. */
export function createTrialRunner(options: HostOptions): (request: TrialRequest) => Promise<void> {
  let now = 0;
  const clock = { ...SYSTEM_CLOCK, now: () => now };
  const settings = settingsFrom({ ...options, clock });
  const stores = openStores(settings);
  const { states, outbox } = createRuntime(settings, stores);
  const capabilities = new Set(settings.runtimeCapabilities);
  // Time ends no batch here: the host, being faster, must not get further than what was tried.
  const limits = { ...settings.limits, batchMs: Number.POSITIVE_INFINITY };
  const tools = { clock, random: settings.random, limits, outbox: outbox.rows };

  return async ({ runId, inputs, now: at }) => {
    now = at;
    const row = await stores.seen.readRun(runId, undefined);
    if (row === undefined || isTerminalStatus(row.head.status)) return;
    const { run, checkpointSeq } = await loadRun({ store: stores.store, states, capabilities }, row);
    for (const input of inputs) {
      const step = decideBatch(tools, run, input);
      batchUnit(tools, run, {
        epoch: row.epoch,
        expectedSeq: row.nextSeq,
        step,
        release: true,
        checkpointSeq,
      });
    }
  };
}
