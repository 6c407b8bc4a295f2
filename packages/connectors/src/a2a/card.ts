import { createHash } from 'node:crypto';
import { AgentCard } from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { NodeFailure, type PeerCard } from '@weft/engine';
import {
  canonicalJson,
  compileValidator,
  isJsonObject,
  type Json,
  type JsonObject,
  parseStrictJson,
} from '@weft/protocol';
import { Type } from 'typebox';
import type { A2aPeer } from './config.ts';
import { messageOf } from './failures.ts';
import { A2A_LIMITS } from './limits.ts';

/** An agent that says this of itself takes a message whose id it has seen for the same one. */
export const IDEMPOTENT_MESSAGES = 'urn:weft:a2a:idempotent-messages';

/** The card of a peer, read and checked. */
export interface ReadCard {
  readonly card: PeerCard;
  /** What the SDK makes of it, where the SDK is to speak to the peer. */
  readonly agent: AgentCard | undefined;
}

const open = { additionalProperties: true } as const;
const text = Type.String({ maxLength: 8_192 });
const optional = Type.Optional;

/** What of a card matters here, in either version of A2A. */
const problemsOf = compileValidator(
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 256 }),
      url: optional(text),
      protocolVersion: optional(text),
      supportedInterfaces: optional(
        Type.Array(Type.Object({ url: text, protocolBinding: text, protocolVersion: text }, open), {
          maxItems: 32,
        }),
      ),
      capabilities: optional(Type.Object({}, open)),
      skills: Type.Array(
        Type.Object(
          {
            id: Type.String({ minLength: 1, maxLength: 256 }),
            name: optional(text),
            description: optional(text),
          },
          open,
        ),
        { maxItems: A2A_LIMITS.skills },
      ),
    },
    open,
  ),
);

const resolver = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });

/** Reads the text of a card. Throws NodeFailure `peer_card_invalid`. */
export function readCard(peer: A2aPeer, body: Uint8Array): ReadCard {
  const raw = parse(peer, body);
  const [problem] = problemsOf(raw);
  if (problem !== undefined)
    throw invalid(
      peer,
      `${problem.path.slice(1).replaceAll('/', '.') || 'it'} is not valid: ${problem.message}`,
    );
  const agent = peer.binding === 'plain' ? undefined : agentOf(peer, raw);
  const { name, skills, capabilities } = raw as JsonObject & {
    readonly name: string;
    readonly skills: readonly (JsonObject & {
      readonly id: string;
      readonly name?: string;
      readonly description?: string;
    })[];
  };
  const card: PeerCard = {
    agentName: name,
    protocolVersion: agent?.supportedInterfaces[0]?.protocolVersion ?? String(raw['protocolVersion'] ?? ''),
    skills: skills.map((skill) => ({
      id: skill.id,
      name: skill.name ?? skill.id,
      description: skill.description ?? '',
      digest: digestOf({ ...raw, skills: [skill] }),
    })),
    takesRepeats: hasExtension(capabilities, IDEMPOTENT_MESSAGES),
  };
  return { card, agent };
}

function digestOf(card: JsonObject): string {
  return createHash('sha256').update(canonicalJson(card)).digest('hex');
}

function parse(peer: A2aPeer, body: Uint8Array): JsonObject {
  let raw: Json;
  try {
    raw = parseStrictJson(Buffer.from(body).toString('utf8'));
  } catch (error) {
    throw invalid(peer, `it is no JSON: ${messageOf(error)}`);
  }
  if (!isJsonObject(raw)) throw invalid(peer, 'it is no object');
  return raw;
}

const BINDINGS: ReadonlySet<string> = new Set(['JSONRPC', 'HTTP+JSON']);

/** With the interfaces that are where the operator says the peer is: a card cannot point a host to another place. */
function agentOf(peer: A2aPeer, raw: JsonObject): AgentCard {
  let agent: AgentCard;
  try {
    const isLegacy = raw['supportedInterfaces'] === undefined;
    agent = isLegacy ? resolver.normalizeAgentCard(raw) : AgentCard.fromJSON(raw);
  } catch (error) {
    throw invalid(peer, messageOf(error));
  }
  const supportedInterfaces = agent.supportedInterfaces.filter(
    ({ url, protocolBinding }) =>
      BINDINGS.has(protocolBinding) && URL.canParse(url) && new URL(url).origin === peer.url.origin,
  );
  if (supportedInterfaces.length === 0)
    throw invalid(peer, `it names no interface at ${peer.url.origin} that this host can speak`);
  return { ...agent, supportedInterfaces };
}

function hasExtension(capabilities: Json | undefined, uri: string): boolean {
  const extensions = isJsonObject(capabilities) ? capabilities['extensions'] : undefined;
  return Array.isArray(extensions) && extensions.some((each) => isJsonObject(each) && each['uri'] === uri);
}

function invalid({ name }: A2aPeer, problem: string): NodeFailure {
  return new NodeFailure('peer_card_invalid', `The card of "${name}" cannot be used: ${problem}.`, {
    details: { peer: name },
  });
}
