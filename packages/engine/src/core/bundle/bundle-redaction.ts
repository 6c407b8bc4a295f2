import { EVENT_CATALOGUE, INTERRUPT_KINDS, type Json, type JsonObject, RUN_STATUSES } from '@weft/protocol';
import { SKELETON } from '../fold/payload-skeleton.ts';
import type { MaskingMode, Plan } from '../compile/plan.ts';
import { createRedactor, knownTexts, maskingOf, maskValue } from '../redaction/redaction.ts';
import type { CreationRecord, RunState } from '../../model/run-state.ts';
import { redactDeep } from '../redaction/scan/credential-text.ts';
import { MASK } from '../redaction/scan/marks.ts';
import { redactorFor } from '../redaction/sensitive.ts';
import { redactCredentialsIn } from './encoded-credentials.ts';

/**
 * What a bundle may show. In addition to what is masked everywhere (sensitive values, credentials), a bundle hides the run's inputs:
 * as such, in what was seeded from them, and wherever else their values occur. Where a run passes its values through,
 * inputs as such and credentials are masked all the same.
 */
export interface BundleRedaction {
  readonly mode: MaskingMode;
  value(value: Json): Json;
  /** The same for an event's payload, whose skeleton (ids, numbers of attempts, kinds) stays readable. */
  payload(payload: JsonObject, text: string): JsonObject;
  text(text: string): string;
  /** For documents no one put inputs into: only what is sensitive and credentials. */
  authored(value: Json): Json;
  /** What stands in the place of a value that is hidden whole; its name stays in every mode. */
  mark(value: Json): Json;
}

/** Shorter inputs are found everywhere; one that must not be seen is declared sensitive. */
const MIN_INPUT = 4;

const NODE_STATUSES = ['running', 'backoff', 'suspended', 'completed', 'failed', 'skipped', 'cancelled'];
const ERROR_MEMBERS = ['code', 'message', 'details', 'retryable'];

/** Words of the protocol: an input that happens to equal one must not blur the shape of the log. */
const VOCABULARY: readonly string[] = [
  ...EVENT_CATALOGUE.flatMap(({ type, payload }) => [type, ...memberNames(payload)]),
  ...RUN_STATUSES,
  ...NODE_STATUSES,
  ...INTERRUPT_KINDS,
  ...ERROR_MEMBERS,
  ...SKELETON,
];

export function createBundleRedaction(plan: Plan, record: CreationRecord, state: RunState): BundleRedaction {
  const mode = plan.maskingMode;
  const masking = maskingOf(plan, record.tenant);
  const ofRun = redactorFor(plan, record, state);
  const ofInputs = createRedactor({
    masking,
    known: knownTexts(Object.values(record.inputs), MIN_INPUT),
    publicNames: [...VOCABULARY, ...namesIn(plan)],
  });

  function withoutSensitive(object: JsonObject, text: string): JsonObject {
    return ofRun.apply(object, text) ?? object;
  }

  function whole(object: JsonObject, text: string): JsonObject {
    const once = withoutSensitive(object, text);
    const twice = ofInputs.apply(once, once === object ? text : JSON.stringify(once)) ?? once;
    return redactCredentialsIn(twice) as JsonObject;
  }

  /** An omitted value leaves null behind, so that its name can stay. */
  function boxed(value: Json, mask: (box: JsonObject, text: string) => JsonObject): Json {
    const box = { value };
    return mask(box, JSON.stringify(box))['value'] ?? null;
  }

  return {
    mode,
    value: (value) => boxed(value, whole),
    payload(payload, text) {
      const masked = whole(payload, text);
      return masked === payload ? payload : { ...masked, ...skeletonOf(payload) };
    },
    text: (text) => redactDeep(ofInputs.redactText(ofRun.redactText(text))),
    authored: (value) => redactCredentialsIn(boxed(value, withoutSensitive)),
    mark: (value) => (mode === 'passthrough' ? MASK : (maskValue(value, masking) ?? null)),
  };
}

function skeletonOf(payload: JsonObject): JsonObject {
  const entries: [string, Json][] = [];
  for (const name of SKELETON) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (value !== undefined) entries.push([name, redactCredentialsIn(value)]);
  }
  return Object.fromEntries(entries);
}

function namesIn(plan: Plan): string[] {
  const nodes = [...plan.nodes.values()].flatMap((node) => [node.id, node.type.typeId]);
  return [...nodes, plan.definition.id, ...plan.variables.keys(), ...plan.channels.keys()];
}

function memberNames(schema: object): string[] {
  return 'properties' in schema ? Object.keys(schema.properties as object) : [];
}
