import { jsonText, type ResolveCommand, type CommandResult } from '@weft/engine';
import {
  HostError,
  isHostError,
  isJsonObject,
  type Json,
  operationOf,
  ResolveRequestSchema,
  route,
  toEnvelope,
} from '@weft/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf, type AppContext, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { addressOf } from '../../http/client-address.ts';
import { noSuchRun } from '../../http/errors.ts';
import { idempotencyOf, sendReplay } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { untilLeft } from '../../http/until-left.ts';
import { pageOf } from '../page.ts';

const parseResolve = bodyParser(ResolveRequestSchema);
const RESOLVE = operationOf(route('resolveInterruptByRun'));
const APPROVE = operationOf(route('resolveApproval'));
const ANSWER = operationOf(route('resolveInterruptByToken'));

interface Outcome {
  readonly status: string;
  readonly commandResult: CommandResult | null | undefined;
}

interface LinkOutcome extends Outcome {
  readonly runId: string;
  readonly nodeId: string;
}

/** Answers to questions that nodes have asked: with a key, through a signed link, and the list of what is open. */
export const interruptRoutes: Routes = (serve, context) => {
  serve('resolveInterruptByRun', { ofRun: true }, (request, reply) => {
    const { resumeValue } = parseResolve(bodyOf(request));
    return resolve(context, request, reply, {
      operation: RESOLVE,
      value: resumeValue as Json,
      isAlias: false,
    });
  });

  // An earlier draft sent the answer itself, and knew no 410.
  serve('resolveApproval', { ofRun: true }, (request, reply) => {
    const body = bodyOf(request);
    if (!isJsonObject(body))
      throw new HostError('validation_error', 'The body must be an object.', { field: 'body' });
    const value = body['resumeValue'] ?? body;
    return resolve(context, request, reply, { operation: APPROVE, value, isAlias: true });
  });

  const withLink = { onRequest: async (request: FastifyRequest) => context.attempts.check(request) };

  serve('inspectInterruptByToken', withLink, async (request, reply) => {
    const question = await counted(context, request, (token) => context.host.interrupts.inspectLink(token));
    return sendJson(reply, 200, JSON.stringify(question));
  });

  // A link is to its question what a key is to a tenant: what it does not open is not talked about.
  const withAnswerLink = {
    onRequest: async (request: FastifyRequest) => {
      await withLink.onRequest(request);
      const isRepeatable = request.headers['idempotency-key'] !== undefined;
      await counted(context, request, (token) => context.host.interrupts.checkLink(token, isRepeatable));
    },
  };

  serve('resolveInterruptByToken', withAnswerLink, async (request, reply) => {
    const { resumeValue } = parseResolve(bodyOf(request));
    const value = resumeValue as Json;
    const claim = idempotencyOf(request, {
      operation: ANSWER,
      target: [],
      body: value,
      render: (outcome) => renderLinked(outcome as unknown as LinkOutcome),
    });
    const address = addressOf(request);
    const answer = await counted(context, request, (token) =>
      context.host.interrupts.answerLink(token, value, {
        address,
        ...(claim !== undefined && { idempotency: claim }),
      }),
    );
    if (answer.replayed) return sendReplay(reply, answer);
    const { status, body } = renderLinked(answer);
    return sendJson(reply, status, body);
  });

  serve('listInterrupts', async (request, reply) => {
    const caller = callerOf(request);
    const { rows, nextCursor } = await context.host.interrupts.list(
      caller,
      pageOf(request),
      untilLeft(reply),
    );
    const mayAnswer = caller.scopes.has('approvals:respond');
    const interrupts = mayAnswer ? rows : rows.map(({ interruptToken: _token, ...row }) => row);
    return sendJson(reply, 200, await jsonText(caller.tenant, { interrupts, nextCursor }));
  });
};

/** A link without a valid signature counts as a failed attempt, like an unknown key. */
async function counted<Result>(
  context: AppContext,
  request: FastifyRequest,
  use: (token: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(pathParam(request, 'token'));
  } catch (error) {
    if (isHostError(error, 'interrupt_not_found')) context.attempts.count(request);
    throw error;
  }
}

interface Asked {
  readonly operation: string;
  readonly value: Json;
  readonly isAlias: boolean;
}

async function resolve(
  context: AppContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, value, isAlias }: Asked,
): Promise<FastifyReply> {
  const runId = pathParam(request, 'runId');
  const nodeId = pathParam(request, 'nodeId');
  const caller = callerOf(request);
  const command: ResolveCommand = {
    type: 'resolve',
    ...placeOf(nodeId),
    value,
    by: caller.principal,
    byUser: caller.kind === 'user',
    viaLink: false,
  };
  const claim = idempotencyOf(request, {
    operation,
    target: [runId, nodeId],
    body: value,
    render: (outcome) => render(runId, nodeId, outcome as unknown as Outcome, isAlias),
  });
  const answer = await context.host.runs.command(caller, runId, command, claim);
  if (answer === undefined) throw noSuchRun();
  if (answer.replayed) return sendReplay(reply, answer);
  const { status, body } = render(runId, nodeId, answer, isAlias);
  return sendJson(reply, status, body);
}

const IN_LOOP = /^(.*?)((?:\[\d+\])+)$/;

/** A node inside a loop is named with its iteration: `gate[2]`. */
function placeOf(name: string): Pick<ResolveCommand, 'nodeId' | 'iteration'> {
  const found = IN_LOOP.exec(name);
  if (found === null) return { nodeId: name };
  const iteration = [...(found[2] ?? '').matchAll(/\d+/g)].map(([index]) => Number(index));
  return { nodeId: found[1] ?? '', iteration };
}

function render(
  runId: string,
  nodeId: string,
  { commandResult, status }: Outcome,
  isAlias: boolean,
): { status: number; body: string } {
  if (commandResult?.applied !== false) {
    // Without a result the answer is durable, but another one may come first: that is not yet a 200.
    const code = commandResult?.applied === true ? 200 : 202;
    return { status: code, body: JSON.stringify({ runId, nodeId, status }) };
  }
  const refusal = commandResult.refusal ?? {
    code: 'interrupt_already_resolved',
    message: `The run is ${commandResult.status}.`,
  };
  // Readers of the earlier draft, and holders of links, know 409 for every question that is over.
  const code = isAlias && refusal.code === 'interrupt_gone' ? 'interrupt_already_resolved' : refusal.code;
  const details = 'details' in refusal ? refusal.details : undefined;
  const envelope = toEnvelope(new HostError(code, refusal.message, details));
  return { status: envelope.status, body: JSON.stringify(envelope.body) };
}

function renderLinked({ runId, nodeId, ...outcome }: LinkOutcome): { status: number; body: string } {
  return render(runId, nodeId, outcome, true);
}

function bodyOf(request: FastifyRequest): Json {
  return (request.body as Json | undefined) ?? {};
}
