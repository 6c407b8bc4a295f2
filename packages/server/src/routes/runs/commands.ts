import { type Command, isTerminalStatus, type CommandResult } from '@weft/engine';
import {
  CancelRequestSchema,
  HostError,
  type Json,
  operationOf,
  PauseRequestSchema,
  ResumeRequestSchema,
  route,
  toEnvelope,
  toIso,
} from '@weft/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, type AppContext, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { idempotencyOf, sendReplay } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';

const parseCancel = bodyParser(CancelRequestSchema);
const parsePause = bodyParser(PauseRequestSchema);
const parseResume = bodyParser(ResumeRequestSchema);

const CANCEL = operationOf(route('cancelRun'));
const PAUSE = operationOf(route('pauseRun'));
const RESUME = operationOf(route('resumeRun'));

/** The outcome of a command, as the host answers it now, or again (then as JSON) on a repeat. */
interface Outcome {
  readonly status: string;
  readonly commandResult: CommandResult | null | undefined;
}

interface Rendered {
  readonly status: number;
  readonly body: string;
}

/** Cancel, pause and resume: one command into the run's inbox, one result out of it. */
export const commandRoutes: Routes = (serve, context) => {
  const cancel = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { reason } = parseCancel(bodyOf(request));
    const command: Command = { type: 'cancel', ...said(request, reason) };
    return send(context, request, reply, { operation: CANCEL, command, render: renderCancel });
  };
  serve('cancelRun', { ofRun: true }, cancel);

  serve('pauseRun', { ofRun: true }, (request, reply) => {
    const { reason, drainPolicy } = parsePause(bodyOf(request));
    const command: Command = {
      type: 'pause',
      policy: drainPolicy ?? 'drain-current-node',
      ...said(request, reason),
    };
    return send(context, request, reply, { operation: PAUSE, command, render: renderPause });
  });

  serve('resumeRun', { ofRun: true }, (request, reply) => {
    const { reason } = parseResume(bodyOf(request));
    const command: Command = { type: 'resume', ...said(request, reason) };
    return send(context, request, reply, { operation: RESUME, command, render: renderResume });
  });
};

interface Asked {
  readonly operation: string;
  readonly command: Command;
  readonly render: (runId: string, outcome: Outcome) => Rendered;
}

async function send(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
): Promise<FastifyReply> {
  const runId = pathParam(request, 'runId');
  const claim = idempotencyOf(request, {
    operation: asked.operation,
    target: [runId],
    body: bodyOf(request),
    render: (outcome) => asked.render(runId, outcome as unknown as Outcome),
  });
  const answer = await context.host.runs.command(callerOf(request), runId, asked.command, claim);
  if (answer === undefined) throw noSuchRun();
  if (answer.replayed) return sendReplay(reply, answer);
  const { status, body } = asked.render(runId, answer);
  return sendJson(reply, status, body);
}

/** An absent body is an empty one. */
function bodyOf(request: FastifyRequest): Json {
  return (request.body as Json | undefined) ?? {};
}

function said(request: FastifyRequest, reason: string | undefined): { reason?: string; by: string } {
  const by = callerOf(request).principal;
  return reason === undefined ? { by } : { reason, by };
}

/** A run that had ended keeps the status it ended in: cancelling it again is not an error. */
function renderCancel(runId: string, { commandResult, status }: Outcome): Rendered {
  return { status: 200, body: JSON.stringify({ runId, status: commandResult?.status ?? status }) };
}

function renderPause(runId: string, outcome: Outcome): Rendered {
  const refused = refusal(outcome);
  if (refused !== undefined) return conflict(`The run is ${refused.status} and cannot be paused.`, refused);
  // Without a result yet, the command is durable and the running node is being drained.
  const pausedAt =
    outcome.commandResult?.applied === true ? { pausedAt: toIso(outcome.commandResult.at) } : {};
  return { status: 202, body: JSON.stringify({ runId, status: 'paused', ...pausedAt }) };
}

function renderResume(runId: string, outcome: Outcome): Rendered {
  const refused = refusal(outcome);
  if (refused !== undefined) return conflict(`The run is ${refused.status}, not paused.`, refused);
  const resumedAt =
    outcome.commandResult?.applied === true ? { resumedAt: toIso(outcome.commandResult.at) } : {};
  return { status: 202, body: JSON.stringify({ runId, status: 'running', ...resumedAt }) };
}

interface Refused {
  readonly status: string;
  readonly pausedAt?: number;
}

/** Why the command was not carried out; undefined when it was, or still may be. */
function refusal({ commandResult, status }: Outcome): Refused | undefined {
  if (commandResult?.applied === false) return commandResult;
  return commandResult?.applied !== true && isTerminalStatus(status) ? { status } : undefined;
}

function conflict(message: string, found: Refused): Rendered {
  const pausedAt = found.pausedAt === undefined ? {} : { pausedAt: toIso(found.pausedAt) };
  const { status, body } = toEnvelope(
    new HostError('conflict', message, { runStatus: found.status, ...pausedAt }),
  );
  return { status, body: JSON.stringify(body) };
}
