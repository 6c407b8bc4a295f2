import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_SCOPES, createHost, DEFAULT_LIMITS } from '@weft/engine';
import { openSqliteStore } from '@weft/storage';
import { it } from 'vitest';
it('measures', async () => {
  const store = openSqliteStore({ path: join(mkdtempSync(join(tmpdir(), 'weft-m-')), 'x.db') });
  const host = createHost({ store, version: '0' });
  await host.start();
  const caller: any = { tenant: 'default', principal: 'a', keyId: 'k', kind: 'service', test: false, scopes: new Set(ALL_SCOPES) };
  const reg = await host.registerWorkflow(caller, { id: 'w', name: 'l', version: '1', nodes: [
    { id: 'w', typeId: 'core.noop', name: 'w', position: { x: 0, y: 0 }, config: {}, inputs: {} }], edges: [], triggers: [{ id: 'm', type: 'manual' }], variables: [], metadata: {}, settings: {} }, { strict: false, dev: false });
  for (const withInputs of [false, true]) {
    const events: any[] = [{ seq: 0, at: 1, type: 'run.started', payload: '{"workflowId":"w"}' }];
    for (let i = 0; events.length < 99_999; i++) {
      const id = `"nodeId":"w","iteration":[${i}]`;
      events.push({ seq: events.length, at: i, nodeId: 'w', type: 'node.started', payload: `{${id},"typeId":"core.noop","attempt":0}` });
      events.push({ seq: events.length, at: i, nodeId: 'w', type: 'log.appended', payload: `{"level":"info","message":"working on item number ${i} of many","nodeId":"w"}` });
      events.push({ seq: events.length, at: i, nodeId: 'w', type: 'node.completed', payload: `{${id},"outputs":{"output":{"n":${i},"text":"a result of ordinary size, nothing special"}}}` });
    }
    events.length = 99_999;
    events.push({ seq: 99_999, at: 1e6, type: 'run.completed', payload: '{}' });
    const runId = `0192f0c4-7b1e-7cc3-9d2a-1f2e3d4c5b6${withInputs ? 'b' : 'a'}`;
    const record: any = { runId, tenant: 'default', workflowId: 'w', workflowVersion: '1', definitionDigest: reg.digest, createdAt: 1, inputs: withInputs ? { a: 'some text', b: 'number', c: { d: 'ordinary', e: 12345 } } : {}, configurable: {}, tags: [], metadata: {}, transport: 'rest', engineVersion: 1, limits: { nodeExecutions: 1e6, runDurationMs: 0, concurrency: 8, maxPayloadBytes: 262144, maxStateBytes: 4e6, loopIterations: 1e6, clarificationRounds: 3 } };
    const r = await store.commit([{ kind: 'run', batchId: `b${withInputs}aaaaaaaaaaaaaaaaaaaa`.slice(0, 22), runId, create: { record, exclusiveScope: false }, epoch: 0, expectedSeq: 0, events, head: { status: 'completed', wakeAt: null, startedAt: 1, endedAt: 1e6 } } as any]);
    console.log(r.map((x) => x.state));
    const read = async () => { let n = 0; let bytes = 0; const t = performance.now(); for (let s = 0; s < 100_000;) { const p = await store.readEvents(runId, s, 200, 256 * 1024); n += p.length; for (const e of p) bytes += e.payload.length; s = p.at(-1)!.seq + 1; } return { ms: performance.now() - t, n, bytes }; };
    const bundle = async () => { const t = performance.now(); let first = 0; let bytes = 0; let peak = 0; let events = ''; const it = await host.debugBundle(caller, runId); for await (const p of it!) { if (!first) first = performance.now() - t; bytes += p.length; peak = Math.max(peak, process.memoryUsage().heapUsed); events = p.slice(-300); } return { ms: performance.now() - t, first, bytes, peak, events }; };
    for (let i = 0; i < 3; i++) {
      const a = await read();
      (globalThis as any).gc?.(); const base = process.memoryUsage().heapUsed;
      const b = await bundle();
      console.log(withInputs, JSON.stringify({ read: a.ms.toFixed(0), bundle: b.ms.toFixed(0), first: b.first.toFixed(0), bytes: b.bytes, heapOverBaseMiB: ((b.peak - base) / 1048576).toFixed(1), logBytes: a.bytes, rssMiB: (process.memoryUsage().rss / 1048576).toFixed(0), tail: b.events }));
    }
  }
  await host.stop(100);
  void DEFAULT_LIMITS;
});
