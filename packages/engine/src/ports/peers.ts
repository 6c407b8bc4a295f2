import type { Json, JsonObject } from '@weft/protocol';
import { NodeFailure } from '../model/node-type.ts';
import type { ToolContext } from './tools.ts';

/**
 * Agents of other hosts that the operator has configured: `HostOptions.peers`. What they say is not to be trusted. All that fails
 * throws NodeFailure with a code that begins with `peer_`.
 */
export interface Peers {
  /** In the order of the configuration; a node that names none calls the first. */
  readonly names: readonly string[];
  /** Where a peer is reached, without credentials. */
  addressOf(peer: string): string;
  card(peer: string, context: PeerContext): Promise<PeerCard>;
  send(message: PeerMessage, context: PeerContext): Promise<PeerTask>;
  /** Asks for the task until the peer has done its part of the work, or the time is up. */
  follow(task: PeerTaskRef, timeoutMs: number, context: PeerContext): Promise<PeerTask>;
  cancel(task: PeerTaskRef, context: PeerContext): Promise<PeerTask>;
}

export type PeerContext = ToolContext;

export const TASK_STATES = [
  'UNSPECIFIED',
  'SUBMITTED',
  'WORKING',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'INPUT_REQUIRED',
  'REJECTED',
  'AUTH_REQUIRED',
] as const;

export type PeerTaskState = (typeof TASK_STATES)[number];

export interface PeerCard {
  readonly agentName: string;
  /** Of A2A. */
  readonly protocolVersion: string;
  readonly skills: readonly PeerSkill[];
  /** The peer takes a message with an id that it has seen for the same message. */
  readonly takesRepeats: boolean;
}

export interface PeerSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** SHA-256 of the card with this skill alone: another one is another agent, or another skill. */
  readonly digest: string;
}

/** A task of a peer, and the card by which it was begun. */
export interface PeerTaskRef {
  readonly peer: string;
  readonly taskId: string;
  /** Of the skill. When the card has it no more nothing is sent: `peer_changed`. */
  readonly cardDigest?: string | undefined;
}

export interface PeerMessage {
  readonly peer: string;
  readonly skill: string;
  /** A text is sent as text, all else as data. */
  readonly content: Json;
  readonly cardDigest: string;
  /** Continues this task. */
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  /** How many hosts the work has come through, this one included: the host gives it. */
  readonly hops?: number | undefined;
}

/** In the form in which it is recorded. */
export interface PeerTask {
  /** Absent where the peer has answered with a message at once. */
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state: PeerTaskState;
  /** What the peer says with its state: a question, a reason. */
  readonly message?: readonly PeerPart[];
  readonly artifacts?: readonly PeerArtifact[];
}

export interface PeerArtifact {
  readonly name?: string;
  readonly parts: readonly PeerPart[];
}

/** One of `text`, `data`, `url` and `bytes` (Base64). */
export type PeerPart = JsonObject;

export const NO_PEERS: Peers = {
  names: [],
  addressOf: () => '',
  card: (peer) => Promise.reject(unknownPeer(peer, [])),
  send: ({ peer }) => Promise.reject(unknownPeer(peer, [])),
  follow: ({ peer }) => Promise.reject(unknownPeer(peer, [])),
  cancel: ({ peer }) => Promise.reject(unknownPeer(peer, [])),
};

export function unknownPeer(peer: string, known: readonly string[]): NodeFailure {
  const list = known.length === 0 ? 'none is' : `there are ${known.join(', ')}`;
  const which = peer === '' ? 'No peer' : `No peer "${peer}"`;
  return new NodeFailure(
    'peer_unknown',
    `${which} is configured on this host: ${list}. An operator names peers under "a2a.peers" in the config file.`,
    { details: { peer } },
  );
}
