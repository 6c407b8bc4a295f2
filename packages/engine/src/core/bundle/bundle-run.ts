import { isJsonObject, type Json, type JsonObject, type RunSnapshot } from '@weft/protocol';
import { weightOf } from '../json/large-json.ts';
import type { CreationRecord } from '../../model/run-state.ts';
import type { BundleRedaction } from './bundle-redaction.ts';
import { redactDeep } from '../redaction/scan/credential-text.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';

/** Made by the engine from ids and clocks; no one's input is in them. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'runId',
  'workflowId',
  'status',
  'owner',
  'startedAt',
  'completedAt',
  'endedAt',
  'currentNodeId',
  'engineVersion',
  'eventLogSchemaVersion',
  'parentRunId',
  'parentNodeId',
]);

/** The snapshot with the few members that bundles add to it, nothing masked. Links stay behind: they open doors. */
export function unmaskedRun(snapshot: RunSnapshot, record: CreationRecord): JsonObject {
  const shown = JSON.parse(JSON.stringify(snapshot, withoutLinks)) as JsonObject;
  return {
    ...shown,
    endedAt: shown['completedAt'] ?? null,
    error: shown['error'] ?? null,
    currentNodeId: shown['currentNodeId'] ?? null,
    inputs: record.inputs,
  };
}

function withoutLinks(name: string, value: unknown): unknown {
  return name === 'interruptToken' || name === 'callbackUrl' ? undefined : value;
}

/** One member of the run as the bundle shows it. */
export function* maskedMember(
  name: string,
  value: Json,
  record: CreationRecord,
  redaction: BundleRedaction,
): CooperativeTask<Json> {
  if (OWN_MEMBERS.has(name)) return value;
  if (!isJsonObject(value)) return redaction.value(value);
  switch (name) {
    case 'inputs':
      return yield* mapMembers(value, (_, input) => redaction.mark(input));
    case 'variables':
      return yield* mapMembers(value, (variable, held) =>
        Object.hasOwn(record.inputs, variable) ? redaction.mark(held) : redaction.value(held),
      );
    case 'nodeStates':
      return yield* maskedStates(value, redaction);
    case 'weft':
      return redaction.authored(value);
    default:
      return redaction.value(value);
  }
}

/** Many in one go, because there may be as many as the run has executed nodes; their keys are the definition's node ids. */
function* maskedStates(states: JsonObject, redaction: BundleRedaction): CooperativeTask<JsonObject> {
  const masked = yield* maskedList(Object.values(states), redaction.value);
  const list = Array.isArray(masked) ? masked : [];
  return Object.fromEntries(Object.keys(states).map((key, index) => [key, list[index] ?? null]));
}

/** What is masked in one go: about 10 ms, whatever it is. */
const GO_WEIGHT = 1_000;

/** A list as `mask` shows it, which may be no list any more; others get their turn meanwhile. */
export function* maskedList(items: readonly Json[], mask: (items: Json[]) => Json): CooperativeTask<Json> {
  const shown: Json[] = [];
  let go: Json[] = [];
  let weight = 0;
  for (const [index, item] of items.entries()) {
    go.push(item);
    weight += weightOf(item, GO_WEIGHT);
    if (weight < GO_WEIGHT && index < items.length - 1) continue;
    const masked = mask(go);
    if (!Array.isArray(masked)) return masked;
    for (const one of masked) shown.push(one);
    go = [];
    weight = 0;
    yield;
  }
  return shown;
}

/** Names are kept, unless someone has used a credential as one. */
function* mapMembers(
  object: JsonObject,
  change: (name: string, value: Json) => Json,
): CooperativeTask<JsonObject> {
  const entries: [string, Json][] = [];
  for (const [name, value] of Object.entries(object)) {
    entries.push([redactDeep(name), change(name, value)]);
    yield;
  }
  return Object.fromEntries(entries);
}
