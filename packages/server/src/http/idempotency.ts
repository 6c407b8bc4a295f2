import { createHash, createHmac } from 'node:crypto';
import { canonicalDigest, type IdempotencyClaim, runCooperatively, type ReplayedAnswer } from '@weft/engine';
import { canonicalJson, HostError, type Json } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import { sendJson } from '../app-context.ts';
import type { Answered, Call } from '../call.ts';

/** Says that the answer is the stored one of an earlier call. */
export const REPLAY_HEADER = 'openwop-idempotent-replay';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

export type Render<Outcome> = IdempotencyClaim<Outcome>['render'];

/** What a mutation is, for the record: its operation, the path parameters that select its target, and its body. */
export interface Mutation<Outcome> {
  readonly operation: string;
  readonly target: readonly string[];
  readonly body: Json;
  readonly render: Render<Outcome>;
}

/** The client's Idempotency-Key; undefined when there is none. Throws HostError `validation_error`. */
function idempotencyKeyOf(call: Pick<Call, 'headers'>): string | undefined {
  const key = call.headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && VISIBLE_ASCII.test(key))) return key;
  throw new HostError('validation_error', 'Idempotency-Key must be 1 to 255 visible ASCII characters.', {
    field: 'Idempotency-Key',
    max: 255,
  });
}

/** The claim for a request that carries an Idempotency-Key; undefined for one that does not. */
export function idempotencyOf<Outcome>(
  call: Pick<Call, 'headers'>,
  mutation: Mutation<Outcome>,
): IdempotencyClaim<Outcome> | undefined {
  const key = idempotencyKeyOf(call);
  return key === undefined
    ? undefined
    : claimOf(key, mutation, sha256(canonicalJson(whatWasAsked(mutation))));
}

/** Levels between what was asked and the nodes of a definition in it. */
const LEVELS = 4;

/** The same where the body may be large: it is hashed in slices, in between other requests. */
export async function idempotencyOfLarge<Outcome>(
  call: Call,
  mutation: Mutation<Outcome>,
): Promise<IdempotencyClaim<Outcome> | undefined> {
  const key = idempotencyKeyOf(call);
  if (key === undefined) return undefined;
  const digest = await runCooperatively(
    call.caller?.tenant ?? '',
    canonicalDigest(whatWasAsked(mutation), LEVELS),
  );
  return claimOf(key, mutation, digest);
}

/** Operations on one resource share a key space, so the resource is part of what the request was. */
function whatWasAsked({ target, body }: Pick<Mutation<unknown>, 'target' | 'body'>): Json[] {
  return [...target, body];
}

/**
 * The digest outlives what was asked, which may be erased; under the client's key, of which only a hash is kept, no one finds a short
 * input by trying all of them.
 */
function claimOf<Outcome>(
  key: string,
  { operation, render }: Mutation<Outcome>,
  digest: string,
): IdempotencyClaim<Outcome> {
  const requestDigest = createHmac('sha256', key).update(digest, 'utf8').digest('hex');
  return { operation, keyHash: sha256(key), requestDigest, render };
}

/** The stored answer, and that it is one. */
export function replayOf(
  { status, body }: ReplayedAnswer,
  headers?: Readonly<Record<string, string>>,
): Answered {
  return { status, body, headers: { ...headers, [REPLAY_HEADER]: 'true' } };
}

export function sendReplay(reply: FastifyReply, answer: ReplayedAnswer): FastifyReply {
  reply.header(REPLAY_HEADER, 'true');
  return sendJson(reply, answer.status, answer.body);
}

function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
