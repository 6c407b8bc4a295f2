import { isJsonObject, type Json, type JsonObject, type RunSnapshot } from '@weft/protocol';
import type { CreationRecord } from '../../model/run-state.ts';
import type { BundleRedaction } from './bundle-redaction.ts';
import { redactDeep } from '../redaction/scan/credential-text.ts';

/** Made by the engine from ids and clocks; nobody's input is in them. */
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
export function maskedMember(
  name: string,
  value: Json,
  record: CreationRecord,
  redaction: BundleRedaction,
): Json {
  if (OWN_MEMBERS.has(name)) return value;
  if (!isJsonObject(value)) return redaction.value(value);
  switch (name) {
    case 'inputs':
      return mapMembers(value, (_, input) => redaction.mark(input));
    case 'variables':
      return mapMembers(value, (variable, held) =>
        Object.hasOwn(record.inputs, variable) ? redaction.mark(held) : redaction.value(held),
      );
    case 'nodeStates':
      return maskedStates(value, redaction);
    case 'weft':
      return redaction.authored(value);
    default:
      return redaction.value(value);
  }
}

/** All in one go, because there may be as many as the run has executed nodes; they are told apart by the definition's ids. */
function maskedStates(states: JsonObject, redaction: BundleRedaction): JsonObject {
  const masked = redaction.value(Object.values(states));
  const list = Array.isArray(masked) ? masked : [];
  return Object.fromEntries(Object.keys(states).map((key, index) => [key, list[index] ?? null]));
}

/** Names are kept, unless somebody has used a credential as one. */
function mapMembers(object: JsonObject, change: (name: string, value: Json) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [redactDeep(name), change(name, value)]),
  );
}
