import { type Command, type CommandOutcome, isTerminalStatus } from '@weft/engine';
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
import { callerOf, type AppContext, pathParam, type Routes } from '../../app-context.ts';
import type { Answered, Call } from '../../call.ts';
import { noSuchRun } from '../../http/errors.ts';
import { idempotencyOf, replayOf } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';

const parseCancel = bodyParser(CancelRequestSchema);
const parsePause = bodyParser(PauseRequestSchema);
const parseResume = bodyParser(ResumeRequestSchema);

const CANCEL = operationOf(route('cancelRun'));
const PAUSE = operationOf(route('pauseRun'));
const RESUME = operationOf(route('resumeRun'));

/** The outcome of a command, as the host answers it now, or again (then as JSON) on a repeat. */
/** Cancel, pause and resume: one command into the run's inbox, one result out of it. */
export const commandRoutes: Routes = (serve, context) => {
  serve.everywhere('cancelRun', { ofRun: true }, (call) => {
    const { reason } = parseCancel(bodyOf(call));
    const command: Command = { type: 'cancel', ...said(call, reason) };
    return send(context, call, { operation: CANCEL, command, render: renderCancel });
  });

  serve.everywhere('pauseRun', { ofRun: true }, (call) => {
    const { reason, drainPolicy } = parsePause(bodyOf(call));
    const command: Command = {
      type: 'pause',
      policy: drainPolicy ?? 'drain-current-node',
      ...said(call, reason),
    };
    return send(context, call, { operation: PAUSE, command, render: renderPause });
  });

  serve.everywhere('resumeRun', { ofRun: true }, (call) => {
    const { reason } = parseResume(bodyOf(call));
    const command: Command = { type: 'resume', ...said(call, reason) };
    return send(context, call, { operation: RESUME, command, render: renderResume });
  });
};

interface Asked {
  readonly operation: string;
  readonly command: Command;
  readonly render: (runId: string, outcome: CommandOutcome) => Answered;
}

async function send(context: AppContext, call: Call, asked: Asked): Promise<Answered> {
  const runId = pathParam(call, 'runId');
  const claim = idempotencyOf(call, {
    operation: asked.operation,
    target: [runId],
    body: bodyOf(call),
    render: (outcome: CommandOutcome) => asked.render(runId, outcome),
  });
  const answer = await context.host.runs.command(callerOf(call), runId, asked.command, claim);
  if (answer === undefined) throw noSuchRun();
  return answer.replayed ? replayOf(answer) : asked.render(runId, answer);
}

/** An absent body is an empty one. */
function bodyOf({ body }: Call): Json {
  return (body as Json | undefined) ?? {};
}

function said(call: Call, reason: string | undefined): { reason?: string; by: string } {
  const by = callerOf(call).principal;
  return reason === undefined ? { by } : { reason, by };
}

/** A run that had ended keeps the status it ended in: cancelling it again is not an error. */
function renderCancel(runId: string, { commandResult, status }: CommandOutcome): Answered {
  return { status: 200, body: JSON.stringify({ runId, status: commandResult?.status ?? status }) };
}

function renderPause(runId: string, outcome: CommandOutcome): Answered {
  const refused = refusal(outcome);
  if (refused !== undefined) return conflict(`The run is ${refused.status} and cannot be paused.`, refused);
  // Without a result yet, the command is durable and the running node is being drained.
  const pausedAt =
    outcome.commandResult?.applied === true ? { pausedAt: toIso(outcome.commandResult.at) } : {};
  return { status: 202, body: JSON.stringify({ runId, status: 'paused', ...pausedAt }) };
}

function renderResume(runId: string, outcome: CommandOutcome): Answered {
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
function refusal({ commandResult, status }: CommandOutcome): Refused | undefined {
  if (commandResult?.applied === false) return commandResult;
  return commandResult?.applied !== true && isTerminalStatus(status) ? { status } : undefined;
}

function conflict(message: string, found: Refused): Answered {
  const pausedAt = found.pausedAt === undefined ? {} : { pausedAt: toIso(found.pausedAt) };
  const { status, body } = toEnvelope(
    new HostError('conflict', message, { runStatus: found.status, ...pausedAt }),
  );
  return { status, body: JSON.stringify(body) };
}
