import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createGate, type Gate, runCooperatively } from '@weft/engine';
import { HostError, type Json, parseStrictJson, strictJsonInSteps } from '@weft/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unpackedBody } from './unpacked-body.ts';

/** Of a route that takes the bytes as they came, and verifies them before it reads anything. */
export const RAW_BODY = 'application/vnd.weft.raw';

/** A longer body is read in slices, in between other requests. */
export const LARGE_BODY = 65_536;
/**
 * An empty object takes two bytes as text and a hundred in memory, so that a body of nothing else would take fifty times its size. Up
 * to so many containers are read, or one for every ten bytes where a route takes large bodies.
 */
export const MAX_CONTAINERS = 100_000;
const BYTES_PER_CONTAINER = 10;
/** Once it is read, a body takes up to twenty times its bytes: a few are read and worked on, the others wait as they came. */
const AT_A_TIME = { inAll: 8, perTenant: 2 };

export function createLargeBodies(): Gate {
  return createGate(AT_A_TIME);
}

/**
 * JSON is the only body this host reads. An empty one is `undefined`; each route says what that means. Of a large one whose client
 * has left before its turn nothing is kept and nothing done: bodies that are sent and left would be bounded by nothing.
 */
export function readJsonOnly(app: FastifyInstance, gate: Gate, maxBytes: number): void {
  async function readLarge(request: FastifyRequest, body: Buffer, done: Done): Promise<void> {
    const tenant = request.caller?.tenant ?? '';
    const { answer } = request;
    const waiting: { body?: Buffer } = { body };
    answer?.once('close', () => delete waiting.body);
    await gate.pass(tenant, async () => {
      if (waiting.body === undefined) return done(clientLeft());
      const value = await runCooperatively(tenant, strictJsonInSteps(textOf(waiting.body)));
      if (answer?.closed === true) return done(clientLeft());
      done(null, value);
      if (answer !== undefined) await once(answer, 'close');
    });
  }

  app.removeAllContentTypeParsers();
  // Not in a WeakMap: what it holds stays in memory until the next full collection of garbage.
  app.decorateRequest('answer', undefined);
  app.addHook('preParsing', (request, reply, payload, done) => {
    request.answer = reply.raw;
    try {
      done(null, unpackedBody(request, reply, payload, request.routeOptions.bodyLimit ?? maxBytes));
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser(RAW_BODY, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    try {
      if (bytes.length <= LARGE_BODY)
        done(null, bytes.length === 0 ? undefined : parseStrictJson(textOf(bytes)));
      else {
        refuseCrowded(bytes);
        readLarge(request, bytes, done).catch(done);
      }
    } catch (error) {
      done(error as Error);
    }
  });
}

type Done = (error: Error | null, value?: Json) => void;

function clientLeft(): HostError {
  return new HostError('validation_error', 'The connection was closed before the body was read.', {
    field: 'body',
  });
}

function textOf(body: Buffer): string {
  if (!isUtf8(body))
    throw new HostError('validation_error', 'The body must be JSON in UTF-8.', { field: 'body' });
  return body.toString('utf8');
}

/** Counted on the bytes, before anything is made of them. */
function refuseCrowded(body: Buffer): void {
  const limit = Math.max(MAX_CONTAINERS, Math.floor(body.length / BYTES_PER_CONTAINER));
  let containers = 0;
  let isInText = false;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (isInText && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) isInText = !isInText;
    else if (!isInText && (byte === OPEN_BRACE || byte === OPEN_BRACKET)) containers += 1;
    if (containers > limit)
      throw new HostError(
        'validation_error',
        `The body holds more than ${limit} objects and arrays; divide it.`,
        {
          field: 'body',
          limit,
        },
      );
  }
}

const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
