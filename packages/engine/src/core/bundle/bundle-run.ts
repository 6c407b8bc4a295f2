import { isJsonObject, type Json, type JsonObject, type RunSnapshot } from '@weft/protocol';
import type { CreationRecord } from '../run-state.ts';
import type { BundleRedaction } from './bundle-redaction.ts';
import { redactCredentials } from './encoded-credentials.ts';

/** The run as the bundle shows it, and as it would look with nothing masked, to tell what was. */
export interface BundleRun {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

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

/** The snapshot with the few members that bundles add to it. Links to open questions stay behind: they open doors. */
export function bundleRun(
  snapshot: RunSnapshot,
  record: CreationRecord,
  redaction: BundleRedaction,
): BundleRun {
  const shown = JSON.parse(JSON.stringify(snapshot, withoutLinks)) as JsonObject;
  const before: JsonObject = {
    ...shown,
    endedAt: shown['completedAt'] ?? null,
    error: shown['error'] ?? null,
    currentNodeId: shown['currentNodeId'] ?? null,
    inputs: record.inputs,
  };
  const entries = Object.entries(before).map(([name, value]): [string, Json] => [
    name,
    maskedMember(name, value, record, redaction),
  ]);
  return { before, after: Object.fromEntries(entries) };
}

function withoutLinks(name: string, value: unknown): unknown {
  return name === 'interruptToken' || name === 'callbackUrl' ? undefined : value;
}

function maskedMember(name: string, value: Json, record: CreationRecord, redaction: BundleRedaction): Json {
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
      return mapMembers(value, (_, state) => redaction.value(state));
    case 'weft':
      return redaction.authored(value);
    default:
      return redaction.value(value);
  }
}

/** Names are kept, unless somebody has used a credential as one. */
function mapMembers(object: JsonObject, change: (name: string, value: Json) => Json): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [redactCredentials(name), change(name, value)]),
  );
}
