import { setTimeout as pause } from 'node:timers/promises';
import {
  NodeFailure,
  type PeerCard,
  type PeerContext,
  type Peers,
  type PeerTask,
  type PeerTaskRef,
  unknownPeer,
} from '@weft/engine';
import { type ReadCard, readCard } from './card.ts';
import type { A2aPeer } from './config.ts';
import type { PeerConnection } from './connection.ts';
import { notKnown, peerFailure, PeerStatusError } from './failures.ts';
import { A2A_LIMITS } from './limits.ts';
import { peerFetch } from './peer-fetch.ts';
import { connectPlainly } from './plain-connection.ts';
import { connectBySdk } from './sdk-connection.ts';

export { A2aConfigError, type A2aPeer, readA2aPeers } from './config.ts';

const WORKING: ReadonlySet<PeerTask['state']> = new Set(['UNSPECIFIED', 'SUBMITTED', 'WORKING']);

/** Agents of other hosts, for `HostOptions.peers`. */
export function createA2aPeers(configured: readonly A2aPeer[]): Peers {
  const names = configured.map(({ name }) => name);

  function peerOf(name: string): A2aPeer {
    const peer = configured.find((each) => each.name === name);
    if (peer === undefined) throw unknownPeer(name, names);
    return peer;
  }

  async function fetchCard(peer: A2aPeer, context: PeerContext, key: string | undefined): Promise<ReadCard> {
    const fetchImpl = peerFetch(peer, context, key, A2A_LIMITS.cardBytes);
    const response = await fetchImpl(cardUrl(peer), { headers: { 'A2A-Version': '1.0' } });
    if (!response.ok) throw new PeerStatusError(response.status);
    return readCard(peer, new Uint8Array(await response.arrayBuffer()));
  }

  /** Each use looks at the card first: an agent that has become another one gets nothing. */
  async function connect(
    { peer: name, cardDigest }: Omit<PeerTaskRef, 'taskId'>,
    context: PeerContext,
  ): Promise<PeerConnection & Pick<PeerCard, 'takesRepeats'>> {
    const peer = peerOf(name);
    const key = await keyOf(peer, context);
    const { card, agent } = await fetchCard(peer, context, key).catch((error: unknown) => {
      throw peerFailure({ peer: name, isSafe: true }, error);
    });
    if (cardDigest !== undefined && !card.skills.some(({ digest }) => digest === cardDigest))
      throw changed(name);
    const fetchImpl = peerFetch(peer, context, key);
    const connection =
      agent === undefined
        ? connectPlainly(name, peer.url, fetchImpl)
        : await connectBySdk(name, agent, fetchImpl);
    return { ...connection, takesRepeats: card.takesRepeats };
  }

  async function asked<Result>(peer: string, isSafe: boolean, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      throw peerFailure({ peer, isSafe }, error);
    }
  }

  return {
    names,
    addressOf: (name) => peerOf(name).url.href,
    async card(name, context) {
      const peer = peerOf(name);
      const key = await keyOf(peer, context);
      const { card } = await asked(name, true, () => fetchCard(peer, context, key));
      return card;
    },
    async send({ peer, cardDigest, ...content }, context) {
      const message = { messageId: context.invocationId, ...content };
      const until = performance.now() + A2A_LIMITS.maxAbsenceMs;
      let mayBeTaken = false;
      for (let waitMs: number = A2A_LIMITS.firstPollMs; ; waitMs = nextWait(waitMs)) {
        try {
          const connection = await connect({ peer, cardDigest }, context);
          mayBeTaken ||= connection.takesRepeats;
          return await asked(peer, mayBeTaken, () => connection.send(message));
        } catch (error) {
          if (!mayBeTaken || !isAbsence(error)) throw error;
          // Another attempt of the node would send it under another id.
          if (performance.now() > until) throw notKnown(peer, error);
        }
        await pause(waitMs, undefined, { signal: context.signal });
      }
    },
    async follow({ peer, taskId, cardDigest }, timeoutMs, context) {
      const until = performance.now() + timeoutMs;
      let seen = performance.now();
      let connection: PeerConnection | undefined;
      let waitMs: number = A2A_LIMITS.firstPollMs;
      while (performance.now() < until) {
        const leftMs = Math.max(until - performance.now(), 0);
        await pause(Math.min(waitMs, leftMs), undefined, { signal: context.signal });
        waitMs = nextWait(waitMs);
        try {
          const reached = (connection ??= await connect({ peer, cardDigest }, context));
          const task = await asked(peer, true, () => reached.task(taskId));
          if (!WORKING.has(task.state)) return task;
          seen = performance.now();
        } catch (error) {
          const isGone = performance.now() - seen > A2A_LIMITS.maxAbsenceMs || context.signal.aborted;
          if (isGone || !isAbsence(error)) throw error;
        }
      }
      throw timedOut(peer, taskId, timeoutMs);
    },
    async cancel({ peer, taskId }, context) {
      const connection = await connect({ peer }, context);
      return await asked(peer, true, () => connection.cancel(taskId));
    },
  };
}

function nextWait(waitMs: number): number {
  return Math.min(waitMs * A2A_LIMITS.pollFactor, A2A_LIMITS.maxPollMs);
}

function isAbsence(error: unknown): error is NodeFailure {
  return error instanceof NodeFailure && error.retryable;
}

async function keyOf({ secretId }: A2aPeer, { operatorSecrets }: PeerContext): Promise<string | undefined> {
  return secretId === undefined ? undefined : await operatorSecrets?.resolve(secretId);
}

function cardUrl({ url, binding }: A2aPeer): URL {
  if (url.pathname.endsWith('.json')) return url;
  const path = binding === 'plain' ? 'agent.json' : '.well-known/agent-card.json';
  return new URL(path, url.href.replace(/\/*$/, '/'));
}

function timedOut(peer: string, taskId: string, timeoutMs: number): NodeFailure {
  return new NodeFailure(
    'peer_timeout',
    `The peer "${peer}" has worked for ${timeoutMs} ms and is not done. More time is given by config.timeoutMs.`,
    { details: { peer, taskId } },
  );
}

function changed(peer: string): NodeFailure {
  return new NodeFailure(
    'peer_changed',
    `The card of "${peer}" has changed since this task was begun; nothing was sent to it. Look at it: weft peers test ${peer}`,
    { details: { peer } },
  );
}
