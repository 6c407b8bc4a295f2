import type { JsonObject } from '@weft/protocol';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectOf } from '../../suite/json-shapes.ts';

const INTO = 'conformance-dispatch-input-mapping';
const INTO_UNSET = 'conformance-dispatch-input-mapping-no-default';
const INTO_WORKER = 'conformance-dispatch-input-mapping-child';
const OUT_OF = 'conformance-dispatch-output-mapping';
const OUT_OF_WORKER = 'conformance-dispatch-output-mapping-child';
const OVERRIDE = 'conformance-dispatch-per-worker-override';
const HANDOFF = 'conformance-dispatch-cross-worker-handoff';
const WORKER_A = 'conformance-dispatch-cross-worker-handoff-child-a';
const WORKER_B = 'conformance-dispatch-cross-worker-handoff-child-b';

interface Family {
  readonly parent: JsonObject;
  /** The variables of each worker, by its workflow. */
  readonly workers: ReadonlyMap<string, JsonObject>;
}

async function familyOf(context: CheckContext, workflowId: string): Promise<Family> {
  const { runs, expect } = context;
  const runId = await runs.create(workflowId);
  const ended = await runs.ended(runId);
  expect.equal(ended['status'], 'completed', 'a run that maps variables completes');
  const children = expect.array(ended['childRuns'], 'a parent lists its children in childRuns');
  const workers = new Map<string, JsonObject>();
  for (const child of children) {
    const { runId: childId } = expect.object(child, 'an entry of childRuns is an object');
    const snapshot = await runs.snapshot(expect.string(childId, 'an entry of childRuns has a runId'));
    workers.set(String(snapshot['workflowId']), variablesOf(snapshot));
  }
  return { parent: variablesOf(ended), workers };
}

function variablesOf({ variables }: JsonObject): JsonObject {
  return objectOf(variables);
}

export const ORCHESTRATION_MAPPING_CHECKS: readonly Check[] = [
  {
    id: 'orchestration/mapping-into',
    title: 'variables of the parent are mapped into a worker',
    proves: ['ORCH-11'],
    needs: { fixtures: [INTO, INTO_UNSET, INTO_WORKER] },
    async run(context) {
      const { expect } = context;

      const set = await familyOf(context, INTO);
      const unset = await familyOf(context, INTO_UNSET);

      expect.that(set.parent['parentName'] !== undefined, 'the parent has the variable that is mapped');
      expect.equal(
        set.workers.get(INTO_WORKER)?.['childGreeting'],
        set.parent['parentName'],
        'the worker has the mapped variable of its parent',
      );
      expect.equal(
        unset.workers.get(INTO_WORKER)?.['childGreeting'],
        undefined,
        'a variable that the parent has not set is unset in the worker',
      );
    },
  },
  {
    id: 'orchestration/mapping-out-of',
    title: 'variables of a worker are mapped into the parent',
    proves: ['ORCH-12'],
    needs: { fixtures: [OUT_OF, OUT_OF_WORKER] },
    async run(context) {
      const { expect } = context;

      const { parent, workers } = await familyOf(context, OUT_OF);

      const outcome = workers.get(OUT_OF_WORKER)?.['childOutcome'];
      expect.that(outcome !== undefined, 'the worker has the variable that is mapped');
      expect.equal(parent['parentResult'], outcome, 'the parent has the mapped variable of its worker');
    },
  },
  {
    id: 'orchestration/mapping-per-worker',
    title: 'a worker has a mapping of its own, and sees what earlier ones left',
    proves: ['ORCH-13'],
    needs: { fixtures: [OVERRIDE, HANDOFF, WORKER_A, WORKER_B] },
    async run(context) {
      const { expect } = context;

      const override = await familyOf(context, OVERRIDE);
      const handoff = await familyOf(context, HANDOFF);

      expect.equal(
        override.workers.get(WORKER_A)?.['input'],
        override.parent['defaultX'],
        'a worker without a mapping of its own has the general one',
      );
      expect.equal(
        override.workers.get(WORKER_B)?.['input'],
        override.parent['sharedVar'],
        'a mapping for one worker wins over the general one',
      );
      expect.that(
        handoff.workers.get(WORKER_A)?.['output'] !== undefined,
        'the first worker has the variable that is handed over',
      );
      expect.equal(
        handoff.workers.get(WORKER_B)?.['input'],
        handoff.workers.get(WORKER_A)?.['output'],
        'a later worker sees what an earlier one has left',
      );
    },
  },
];
