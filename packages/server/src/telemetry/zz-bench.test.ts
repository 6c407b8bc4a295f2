import { it } from 'vitest';
import { openHarness } from '../testing/harness.ts';
import { createTelemetry } from './telemetry.ts';
it('b', async () => {
  const at = await openHarness();
  const auth = await at.host.authenticate(at.key);
  if (auth.state !== 'ok') throw new Error();
  const run = { workflowId: 'noop', inputs: {}, configurable: {}, tags: [], metadata: {}, exclusiveScope: false };
  const round = async () => {
    const t = performance.now();
    for (let i = 0; i < 60; i++) await Promise.all(Array.from({ length: 64 }, () => at.host.createRun(auth.caller, run)));
    return (performance.now() - t) * 1e3 / (60 * 64);
  };
  // the app of the harness observes once already; take it away by closing the app
  await at.app.close();
  const off: number[] = []; const on: number[] = [];
  await round(); await round();
  for (let r = 0; r < 9; r++) {
    off.push(await round());
    const t = createTelemetry({ host: at.host, version: '', log: () => undefined });
    on.push(await round());
    await t.stop(0);
  }
  const med = (x: number[]) => x.sort((a, b) => a - b)[4]!;
  console.log(`RESULT off ${med(off).toFixed(1)} us/run, on ${med(on).toFixed(1)} us/run; min off ${off[0]!.toFixed(1)} on ${on[0]!.toFixed(1)}`);
}, 120000);
