import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import type { EventPayloads } from './event-payloads.ts';

export type EventType = keyof EventPayloads;

/** The payload as the fold reads it, private members included. */
export type Payload<Type extends EventType> = EventPayloads[Type]['whole'];

type Common = {
  readonly nodeId?: string | undefined;
  /** Sequence, in the same run, of the event that caused this one. */
  readonly causeSeq?: number | undefined;
};

/** An event as the core drafts it: what happened, not yet when or as which number. */
export type Draft<Type extends EventType = EventType> = {
  [Each in Type]: Common & {
    readonly type: Each;
    readonly payload: Payload<Each>;
    /** The payload as JSON, where the drafter has serialized it already. */
    readonly text?: string | undefined;
    /** A node has made up the event, and the engine has not. */
    readonly isForeign?: boolean;
    /** The payload as the public may see it, where structure alone says that something must be hidden: masked, or left out. */
    readonly shown?: { readonly [Member in keyof EventPayloads[Each]['public']]?: Json } | undefined;
  };
}[Type];

/** A fact of a run's log, of a type that the engine records. */
export type Fact<Type extends EventType = EventType> = {
  [Each in Type]: Common & {
    readonly seq: number;
    /** Milliseconds since the epoch; never decreases within a run. */
    readonly at: number;
    readonly type: Each;
    /** What streams, polls and bundles show. */
    readonly payload: EventPayloads[Each]['public'];
    /** The payload before masking, present only where masking changed something. Only the fold reads it. */
    readonly overlay?: Payload<Each>;
  };
}[Type];

/** A fact of any other type, of a vendor or from an imported log: it passes through and changes nothing. */
export interface OtherFact extends Common {
  readonly seq: number;
  readonly at: number;
  /** Stands for every name that is not among `EventType`: the language has no type for those. */
  readonly type: 'any other type';
  readonly payload: Json;
  readonly overlay?: JsonObject;
}

/** A fact of a run's log. */
export type RunEvent = Fact | OtherFact;

/** A fact whose type is not looked at: one that is being made, or read. */
export interface UntypedFact {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly payload: Json;
  readonly overlay?: JsonObject;
  readonly nodeId?: string;
  readonly causeSeq?: number;
}

/** Takes a fact at its word: its payload is what the type says, or the type is not among those that are recorded. */
export function asRunEvent(fact: UntypedFact): RunEvent {
  return fact as RunEvent;
}

/** What the fold reads: the overlay where there is one. */
export function foldPayload<Type extends EventType>(event: {
  readonly type: Type;
  readonly payload: EventPayloads[Type]['public'];
  readonly overlay?: Payload<Type>;
}): Payload<Type> {
  return event.overlay ?? event.payload;
}

/** The same as data, for those who look at no member by its name. */
export function payloadData(event: RunEvent): JsonObject {
  const payload: unknown = event.overlay ?? event.payload;
  return isJsonObject(payload) ? payload : {};
}

/** Which execution of a node a fact of any type names in its payload, as far as it does; decisions are numbered under the second name. */
export function namedNode(payload: RunEvent['payload']): NamedNode {
  return isJsonObject(payload) ? (payload as NamedNode) : {};
}

interface NamedNode {
  readonly nodeId?: string;
  readonly iteration?: number[] | number;
}

export const TERMINAL_EVENTS = ['run.completed', 'run.failed', 'run.cancelled'] as const;

export function isTerminalEvent(type: string): boolean {
  return type === 'run.completed' || type === 'run.failed' || type === 'run.cancelled';
}
