import type { AgentCard } from '@a2a-js/sdk';
import type { Caller, Host, Log } from '@weft/engine';
import type { Json, JsonObject, OperationId } from '@weft/protocol';
import type { Place } from '../protocols/perform-operation.ts';

/** What a request of an agent comes with. */
export interface A2aSession {
  readonly host: Host;
  readonly log: Log;
  perform(operationId: OperationId, place: Place): Promise<JsonObject>;
  /** The caller, if its key holds the operation's scope. */
  admit(operationId: OperationId): Promise<Caller>;
  /** Performs the act once under this key, and remembers what it gave. */
  once(caller: Caller, key: string, asked: Json, act: () => Promise<Json>): Promise<Json>;
  card(): Promise<AgentCard>;
  /** Aborted when no one waits for the answer any more. */
  readonly ended: AbortSignal;
}
