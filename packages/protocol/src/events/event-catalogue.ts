import type { Static } from 'typebox';
import { AGENT_EVENTS } from './catalogue/agent.ts';
import { CONVERSATION_EVENTS } from './catalogue/conversation.ts';
import { EVAL_DEPLOYMENT_TRIGGER_EVENTS } from './catalogue/eval-deployment-triggers.ts';
import { INTERRUPT_EVENTS } from './catalogue/interrupt.ts';
import { MEMORY_AND_TOOL_EVENTS } from './catalogue/memory-tools.ts';
import { MODEL_EVENTS } from './catalogue/model.ts';
import { NODE_EVENTS } from './catalogue/node.ts';
import type { EventRow } from './catalogue/row.ts';
import { RUN_EVENTS } from './catalogue/run.ts';
import { STATE_EVENTS } from './catalogue/state.ts';
import { VOICE_EVENTS } from './catalogue/voice.ts';
import type { WEFT_EVENTS } from './catalogue/weft.ts';
import { WORKFLOW_EVENTS } from './catalogue/workflow-limits.ts';

const ROWS = [
  ...RUN_EVENTS,
  ...NODE_EVENTS,
  ...INTERRUPT_EVENTS,
  ...STATE_EVENTS,
  ...WORKFLOW_EVENTS,
  ...AGENT_EVENTS,
  ...CONVERSATION_EVENTS,
  ...MODEL_EVENTS,
  ...MEMORY_AND_TOOL_EVENTS,
  ...EVAL_DEPLOYMENT_TRIGGER_EVENTS,
  ...VOICE_EVENTS,
];

/** Every event type the protocol owns: one table, from which schemas, stream filters and the reference are made. */
export const EVENT_CATALOGUE: readonly EventRow[] = ROWS;

/** The payloads of all documented types by name, the protocol's and this host's, as their schemas state them. */
export type DocumentedPayloads = {
  [Row in (typeof ROWS)[number] | (typeof WEFT_EVENTS)[number] as Row['type']]: Static<Row['payload']>;
};

export const EVENT_TYPES: readonly string[] = EVENT_CATALOGUE.map((row) => row.type);

const byType = new Map(EVENT_CATALOGUE.map((row) => [row.type, row]));

/** The row of a protocol type; undefined for vendor and unknown types. */
export function eventType(name: string): EventRow | undefined {
  return byType.get(name);
}

/** At least two segments, the first a vendor's label and none of the reserved ones. */
export const VENDOR_TYPE_PATTERN =
  '^(?!(?:openwop|core|community|vendor|private|local)\\.)[a-z][a-zA-Z0-9_-]*(\\.[a-zA-Z0-9_-]+)+$';

/** First segments under which only the protocol adds names, though the pattern would let them pass. */
const CLOSED_PREFIXES = new Set(['run', 'node', 'approval', 'clarification', 'cap', 'channel', 'replay']);

const vendorType = new RegExp(VENDOR_TYPE_PATTERN);

/** True for a name a vendor may use for an event of its own. */
export function isVendorType(name: string): boolean {
  const [prefix = ''] = name.split('.', 1);
  return vendorType.test(name) && !byType.has(name) && !CLOSED_PREFIXES.has(prefix);
}
