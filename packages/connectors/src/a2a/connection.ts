import type { PeerTask } from '@weft/engine';
import type { Json } from '@weft/protocol';

/** A peer in one of its bindings. What fails throws as it comes. */
export interface PeerConnection {
  send(message: OutgoingMessage): Promise<PeerTask>;
  task(taskId: string): Promise<PeerTask>;
  cancel(taskId: string): Promise<PeerTask>;
}

export interface OutgoingMessage {
  readonly messageId: string;
  readonly skill: string;
  readonly content: Json;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly hops?: number | undefined;
}
