import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { StoredEvent } from '../../ports/store.ts';
import { evolve } from '../fold/evolve.ts';
import { fromStored } from '../fold/from-stored.ts';
import { asRunEvent } from '../../model/run-event.ts';
import { nodeKey, type NodeState, type RunState } from '../../model/run-state.ts';
import type { Plan } from '../compile/plan.ts';
import { segmentsOf } from './masked-slots.ts';
import { mayBeRead } from './output-readers.ts';

/**
 * Which masked values a fork could come to read. Each masked slot is filled with a mark of its own before it is folded; the
 * marks that are still in the state at the cut, where something could read them, are the values that are needed. This errs on
 * one side: a value that no one will read may be asked for, but nothing ever runs on a placeholder.
 */
export interface NeededSlot {
  /** How the value is asked for: a variable's name, `nodes.ID.outputs.PORT`, or `events.SEQUENCE.MEMBER`. */
  readonly name: string;
  readonly seq: number;
  /** JSON Pointer into the event's payload. */
  readonly slot: string;
}

export interface MarkedFold {
  add(event: StoredEvent, slots: readonly string[]): void;
  /** What is needed as of the events added, in order of the log. */
  needed(): NeededSlot[];
}

/** Members whose values the state holds as they are. */
const HELD: ReadonlySet<string> = new Set([
  'next',
  'outputs',
  'inputs',
  'items',
  'data',
  'resumeSchema',
  'childInputs',
  'decision',
]);

/** Texts for people: nothing is decided by them. */
const TEXTS: ReadonlySet<string> = new Set([
  'error',
  'lastError',
  'reason',
  'message',
  'previous',
  'chunk',
  'meta',
]);

/** `state` is changed. */
export function createMarkedFold(plan: Plan, state: RunState): MarkedFold {
  const marked = new Map<string, NeededSlot>();
  const always: NeededSlot[] = [];

  function add(event: StoredEvent, slots: readonly string[]): void {
    const read = fromStored(event);
    if (slots.length === 0 || !isJsonObject(read.payload)) {
      evolve(state, read);
      return;
    }
    let payload: JsonObject = read.payload;
    for (const slot of slots) {
      const needed = { name: nameOf(event, payload, slot), seq: event.seq, slot };
      const [member = ''] = segmentsOf(slot);
      if (TEXTS.has(member)) continue;
      if (!HELD.has(member) && !isReplaced(event, payload, member)) {
        // It decides how the log is read, or is worked into something else: there is no doing without it.
        if (changesState(event)) always.push(needed);
        continue;
      }
      const mark = `\u0000masked ${event.seq} ${slot}`;
      marked.set(mark, needed);
      payload = withValue(payload, slot, mark);
    }
    evolve(
      state,
      asRunEvent({
        seq: read.seq,
        at: read.at,
        type: event.type,
        payload,
        ...(event.nodeId !== undefined && { nodeId: event.nodeId }),
      }),
    );
  }

  return {
    add,
    needed() {
      const found = new Set<string>();
      for (const value of heldBy(plan, state)) collectTexts(value, found);
      const held = [...marked].flatMap(([mark, needed]) => (found.has(mark) ? [needed] : []));
      return [...always, ...held].sort((a, b) => a.seq - b.seq || (a.slot < b.slot ? -1 : 1));
    },
  };
}

/** A channel that is replaced holds the value as it is. */
function isReplaced({ type }: StoredEvent, payload: JsonObject, member: string): boolean {
  return type === 'channel.written' && member === 'value' && payload['reducer'] === 'replace';
}

/** Of events about the run as a whole the fold reads the type alone. */
function changesState({ type }: StoredEvent): boolean {
  return !type.startsWith('run.') && !type.startsWith('cap.');
}

export function nameOf(event: StoredEvent, payload: JsonObject, slot: string): string {
  const [member = '', port] = segmentsOf(slot);
  const { name } = payload;
  if (event.type === 'variable.changed' && member === 'next' && typeof name === 'string') return name;
  if (event.type === 'node.completed' && member === 'outputs')
    return `nodes.${keyOf(event, payload)}.outputs${port === undefined ? '' : `.${port}`}`;
  return `events.${event.seq}.${port === undefined ? member : `${member}.${port}`}`;
}

function keyOf({ nodeId }: StoredEvent, payload: JsonObject): string {
  const { iteration } = payload;
  return nodeKey(
    String(payload['nodeId'] ?? nodeId),
    Array.isArray(iteration) ? iteration.filter((index) => typeof index === 'number') : [],
  );
}

/** The payload with another value in this place. */
export function withValue(payload: JsonObject, slot: string, value: Json): JsonObject {
  const [member = '', port] = segmentsOf(slot);
  if (port === undefined) return { ...payload, [member]: value };
  const held = payload[member];
  return { ...payload, [member]: { ...(isJsonObject(held) ? held : {}), [port]: value } };
}

function* heldBy(plan: Plan, state: RunState): Generator<Json> {
  yield* state.variables.values();
  yield* state.channels.values();
  for (const { decision } of state.openDecisions) yield decision;
  for (const node of state.nodes.values()) {
    yield* heldByNode(node);
    if (node.outputs !== undefined && mayBeRead(plan, state, node.nodeId)) yield node.outputs;
  }
}

function* heldByNode(node: NodeState): Generator<Json> {
  for (const value of [node.inputs, node.items, node.childInputs, node.decision?.decision]) {
    if (value !== undefined) yield value;
  }
  if (node.interrupt === undefined || node.interrupt.closed !== undefined) return;
  yield node.interrupt.data;
  if (node.interrupt.resumeSchema !== undefined) yield node.interrupt.resumeSchema;
}

function collectTexts(value: Json, found: Set<string>): void {
  if (typeof value === 'string') {
    if (value.startsWith('\u0000masked ')) found.add(value);
  } else if (Array.isArray(value)) for (const item of value) collectTexts(item, found);
  else if (isJsonObject(value)) for (const member of Object.values(value)) collectTexts(member, found);
}
