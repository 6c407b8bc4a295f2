import type { JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { ofType, payloadOf } from '../events/log.ts';

/** Nodes of WASM packs, by the workflows that the protocol names for them. */
const ROUNDTRIP = 'conformance-wasm-pack-roundtrip';
const BREACH = 'conformance-wasm-pack-memory-cap-breach';
/** By which a host says that it cannot wait for a module. */
const NOT_SUSPENDED = ['wasm_suspend_not_implemented', 'suspend_not_supported'];

function greetingIn(log: readonly JsonObject[]): JsonObject {
  return payloadOf(ofType(log, 'node.completed')[0]);
}

async function greeted({ runs, expect }: CheckContext, name: string): Promise<[string, JsonObject[]]> {
  const runId = await runs.create(ROUNDTRIP, { inputs: { name } });
  const { status } = await runs.ended(runId);
  expect.equal(status, 'completed', 'a run with a node of a WASM pack completes');
  return [runId, await runs.events(runId)];
}

export const WASM_CHECKS: readonly Check[] = [
  {
    id: 'packs/wasm-invoke',
    title: 'a node of a WASM pack gets the inputs of the run and leaves its output in the log',
    proves: ['PACK-3'],
    needs: { fixtures: [ROUNDTRIP] },
    async run(context) {
      const { expect, unique } = context;
      for (const name of ['openwop', unique('n')]) {
        const [, log] = await greeted(context, name);
        const said = JSON.stringify(greetingIn(log));
        expect.that(
          said.toLowerCase().includes(`hello, ${name.toLowerCase()}`),
          'the output greets who is named',
          said,
        );
      }
    },
  },
  {
    id: 'packs/wasm-suspension',
    title:
      'a WASM node completes, also after it had to wait, or fails with the code that says that it cannot wait',
    proves: ['PACK-4'],
    needs: { fixtures: [ROUNDTRIP] },
    async run({ runs, expect }) {
      const runId = await runs.create(ROUNDTRIP, { inputs: { name: 'openwop' } });
      const { status } = await runs.ended(runId);
      const failures = JSON.stringify(ofType(await runs.events(runId), 'node.failed', 'run.failed'));
      expect.that(
        status === 'completed' || NOT_SUSPENDED.some((code) => failures.includes(`"${code}"`)),
        `the run completes, or fails with ${NOT_SUSPENDED.join(' or ')}`,
        failures,
      );
    },
  },
  {
    id: 'packs/wasm-determinism',
    title: 'equal inputs give equal outputs, in a run of their own and in a replay',
    proves: ['PACK-5'],
    needs: { fixtures: [ROUNDTRIP] },
    async run(context) {
      const { runs, expect, unique } = context;
      const name = unique('n');
      const [runId, log] = await greeted(context, name);
      const [, again] = await greeted(context, name);
      expect.equal(greetingIn(again), greetingIn(log), 'a second run has the same output');

      const answer = await runs.fork(runId, { mode: 'replay', fromSeq: 0 });
      expect.status(answer, 200, 201);
      const forked = expect.object(answer.json, 'a fork is answered with an object');
      const replay = expect.string(forked['runId'], 'a fork has a runId');
      await runs.ended(replay);
      expect.equal(greetingIn(await runs.events(replay)), greetingIn(log), 'a replay has the same output');
    },
  },
  {
    id: 'packs/wasm-memory-cap',
    title: 'a module that takes too much memory is stopped, and the cap stands before the failure',
    proves: ['PACK-6', 'CAP-18'],
    needs: { fixtures: [BREACH] },
    timeoutMs: 40_000,
    async run({ runs, expect }) {
      const runId = await runs.create(BREACH);
      const { status } = await runs.ended(runId);
      expect.equal(status, 'failed', 'the run fails');
      const log = ofType(await runs.events(runId), 'cap.breached', 'node.failed');
      const breach = payloadOf(log[0]);
      expect.equal(
        [log[0]?.['type'] ?? null, breach['kind'] ?? null],
        ['cap.breached', 'wasm-memory'],
        'cap.breached of the kind wasm-memory stands before the failure',
      );
      const [limit, observed] = [
        expect.integer(breach['limit'], 'limit is an integer'),
        expect.integer(breach['observed'], 'observed is an integer'),
      ];
      expect.that(observed > limit, 'observed is more than limit', breach);
    },
  },
];
