import type { PeerDocument, PeerTest } from '@weft/protocol';
import type { Caller } from './caller.ts';

/** Agents of other hosts that nodes may call, as the operator has configured them. */
export interface PeerAgents {
  list(caller: Caller): readonly PeerDocument[];
  /** Fetches the card of a peer and checks it; undefined when there is none of this name. */
  test(caller: Caller, peer: string): Promise<PeerTest | undefined>;
}

/** Receivers of push notifications about a task of an agent of another host. A task is a run that a message of A2A has begun. */
export interface TaskPushes {
  /** Throws what is wrong with a configuration, before anything is begun for its sake. */
  check(caller: Caller, push: NewTaskPush): void;
  /** Over the one with the same id; the task as it stands is sent at once, and then each change. Undefined when there is no such run. */
  set(caller: Caller, runId: string, push: NewTaskPush): Promise<TaskPush | undefined>;
  list(caller: Caller, runId: string): Promise<readonly TaskPush[] | undefined>;
  /** False when it does not exist. Nothing more is sent after it resolves. */
  remove(caller: Caller, runId: string, pushId: string): Promise<boolean>;
}

/** Without what authenticates the host to the receiver: that is never shown. */
export interface TaskPush {
  readonly pushId: string;
  readonly url: string;
  /** Of `Authorization`, where one is sent. */
  readonly scheme?: string;
}

export interface NewTaskPush {
  /** Empty: the id of the run. */
  readonly pushId: string;
  readonly url: string;
  /** Sent as `X-A2A-Notification-Token`; may be empty. */
  readonly token: string;
  readonly authorization?: { readonly scheme: string; readonly credentials: string } | undefined;
  /** Of the agents' protocol in which it is written. */
  readonly version: string;
}
