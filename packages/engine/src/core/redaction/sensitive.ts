import { createKnownValues, type KnownValues } from './known-values.ts';
import type { LiveRun } from '../decide/live-run.ts';
import type { Plan } from '../compile/plan.ts';
import { createRedactor, maskingOf, type Redactor } from './redaction.ts';
import type { CreationRecord, RunState } from '../../model/run-state.ts';
import { holdsSensitive, type RunView } from './sensitive-places.ts';

/** What a run must not show as of now. */
export interface RunRedaction {
  readonly redactor: Redactor;
  /** Absent while nothing in the run is sensitive: most runs. */
  readonly known?: KnownValues;
}

/** Of runs that hold nothing sensitive: what looks like a credential is masked the same way in every mode. */
const PLAIN: RunRedaction = { redactor: createRedactor({ masking: { mode: 'mask' } }) };

export function runRedaction(view: RunView): RunRedaction {
  return holdsSensitive(view) ? trackedRedaction(view) : PLAIN;
}

function trackedRedaction(view: RunView): Required<RunRedaction> {
  const { plan, record } = view;
  const known = createKnownValues(view);
  const masking = maskingOf(plan, record.tenant);
  return { known, redactor: createRedactor({ masking, known, publicNames: namesIn(plan) }) };
}

/** Something in the run is about to become sensitive. */
export function trackSensitive(run: LiveRun): void {
  if (run.known !== undefined) return;
  const { redactor, known } = trackedRedaction(run);
  run.redactor = redactor;
  run.known = known;
}

/** For a look at the run as it is. */
export function redactorFor(plan: Plan, record: CreationRecord, state: RunState): Redactor {
  return runRedaction({ plan, record, state }).redactor;
}

/** Ids that stand in the definition for all to see; a secret that happens to equal one must not blur the log's structure. */
function namesIn(plan: Plan): string[] {
  return [...plan.nodes.values()]
    .flatMap((node) => [node.id, node.type.typeId])
    .concat(plan.definition.id, [...plan.variables.keys()]);
}
