import type { ErrorCode, Json, JsonObject } from '@weft/protocol';
import type { RunStatus } from './run-state.ts';

/** What people ask of a run. Accepted into the inbox first, consumed by the holder of the run. */
export type Command =
  | {
      readonly type: 'cancel';
      readonly reason?: string;
      readonly by?: string;
      /** Set when the cancel of the parent run caused it. */
      readonly parentRunId?: string;
    }
  | { readonly type: 'pause'; readonly policy: DrainPolicy; readonly reason?: string; readonly by?: string }
  | { readonly type: 'resume'; readonly reason?: string; readonly by?: string }
  | ResolveCommand
  | ChildCommand
  | ChannelCommand;

/** A child run's signal to its parent: it waits, has resumed, or has ended. */
export interface ChildCommand {
  readonly type: 'child';
  /** The parent's node that started it. */
  readonly nodeKey: string;
  readonly childRunId: string;
  readonly status: RunStatus;
  /** Public outputs of a completed child. */
  readonly outputs?: JsonObject;
  /** The variables the parent asked for, those that are set. */
  readonly variables?: JsonObject;
  /** Which of the variables the child's workflow marks as sensitive. */
  readonly sensitive?: readonly string[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** A child run writes to a channel of its parent. */
export interface ChannelCommand {
  readonly type: 'channel';
  readonly channel: string;
  readonly value: Json;
  readonly sourceRunId: string;
  readonly sourceEngineId: string;
  /** Where the child's log says that it was sent. */
  readonly sourceSequence?: number;
  /** The child's node, as the channel's list of writers knows it. */
  readonly writer: { readonly nodeId: string; readonly typeId: string };
  /** The value holds something that the child must not show. */
  readonly sensitive?: true;
}

/** An answer to a question that a node has asked. */
export interface ResolveCommand {
  readonly type: 'resolve';
  readonly nodeId: string;
  /** Inside loops. */
  readonly iteration?: readonly number[];
  /** From a signed link: the question the link was made for. */
  readonly interruptId?: string;
  readonly value: Json;
  /** Who answers: the authenticated principal, or what the link's holder said. */
  readonly by: string;
  /** A user's own identity counts as the voter; a service key may name one. */
  readonly byUser: boolean;
  readonly viaLink: boolean;
}

export type DrainPolicy = 'immediate' | 'drain-current-node';

/** What became of a command. */
export type CommandResult =
  | { readonly applied: true; readonly status: RunStatus; readonly at: number }
  | {
      readonly applied: false;
      readonly status: RunStatus;
      readonly pausedAt?: number;
      /** Why an answer was not taken. */
      readonly refusal?: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details?: JsonObject;
      };
    };
