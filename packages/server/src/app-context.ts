import type { ServerResponse } from 'node:http';
import type { Caller, Gate, Host, Log } from '@weft/engine';
import { HostError, nameProblem } from '@weft/protocol';
import type { FastifyReply } from 'fastify';
import type { Answered, Call } from './call.ts';
import type { BytesInFlight } from './http/bytes-in-flight.ts';
import type { FailedAttempts } from './http/failed-attempts.ts';
import type { Serve } from './http/serve.ts';
import type { RenderBatch } from './stream/batches.ts';
import type { OpenStreams } from './stream/open-streams.ts';
import type { AdmissionQueue } from './stream/admission-queue.ts';
import type { Settings } from './options.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

/** What every route is given: the host, and the few things all routes share. */
export interface AppContext {
  readonly host: Host;
  readonly settings: Settings;
  readonly log: Log;
  readonly streams: OpenStreams;
  /** Streams wait here for a turn to be opened in. */
  readonly streamAdmission: AdmissionQueue;
  readonly renderBatch: RenderBatch;
  readonly telemetry: Pick<Telemetry, 'metrics'>;
  readonly publicUrl: (call: Call) => string;
  /** For what browsers are let in to without a key. Throws HostError. */
  readonly checkHost: (call: Call) => void;
  /** For what is let in without a key. */
  readonly attempts: FailedAttempts;
  readonly bytes: BytesInFlight;
  /** Large bodies are read and worked on a few at a time. */
  readonly largeBodies: Gate;
  /** Called before the server closes, like the streams. */
  readonly closers: (() => void)[];
}

export type Routes = (serve: Serve, context: AppContext) => void;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; absent on routes that need no key. */
    caller: Caller | undefined;
    /** What it is answered with, for those who are not given the reply. */
    answer: ServerResponse | undefined;
  }
  interface FastifyContextConfig {
    readonly scope?: string;
    readonly ofRun?: boolean;
  }
}

export function callerOf({ caller }: Call): Caller {
  if (caller === undefined) throw new Error('A route without a guard asked for its caller.');
  return caller;
}

/** Sends text that is JSON already; it is not serialized again. */
export function sendJson(reply: FastifyReply, status: number, body: string): FastifyReply {
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(body);
}

export function sendAnswer(reply: FastifyReply, { status, body, headers }: Answered): FastifyReply {
  if (headers !== undefined) reply.headers(headers);
  return body === '' ? reply.code(status).send() : sendJson(reply, status, body);
}

/** A path parameter, percent-decoded. Ids are names, so an invalid one is refused here for every route. */
export function pathParam({ params }: Call, name: string): string {
  const value = (params as Record<string, string>)[name] ?? '';
  const problem = nameProblem(value);
  if (problem === undefined) return value;
  throw new HostError('validation_error', `${name} in the path ${problem}.`, { field: name });
}
