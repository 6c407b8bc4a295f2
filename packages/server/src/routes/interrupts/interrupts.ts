import { jsonText, type CommandOutcome, type LinkOutcome, type ResolveCommand } from '@weft/engine';
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
import { callerOf, type AppContext, pathParam, type Routes, sendJson } from '../../app-context.ts';
import type { Answered, Call } from '../../call.ts';
import { addressOf } from '../../http/client-address.ts';
import { noSuchRun } from '../../http/errors.ts';
import { idempotencyOf, replayOf } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { untilLeft } from '../../http/until-left.ts';
import { pageOf } from '../page.ts';

const parseResolve = bodyParser(ResolveRequestSchema);
const RESOLVE = operationOf(route('resolveInterruptByRun'));
const APPROVE = operationOf(route('resolveApproval'));
const ANSWER = operationOf(route('resolveInterruptByToken'));

/** Answers to questions that nodes have asked: with a key, through a signed link, and the list of what is open. */
export const interruptRoutes: Routes = (serve, context) => {
  serve.everywhere('resolveInterruptByRun', { ofRun: true }, (call) => {
    const { resumeValue } = parseResolve(bodyOf(call));
    return resolve(context, call, { operation: RESOLVE, value: resumeValue as Json, isAlias: false });
  });

  // An earlier draft sent the answer itself, and knew no 410.
  serve.everywhere('resolveApproval', { ofRun: true }, (call) => {
    const body = bodyOf(call);
    if (!isJsonObject(body))
      throw new HostError('validation_error', 'The body must be an object.', { field: 'body' });
    const value = body['resumeValue'] ?? body;
    return resolve(context, call, { operation: APPROVE, value, isAlias: true });
  });

  const withLink = { before: async (call: Call) => context.attempts.check(call) };

  serve.everywhere('inspectInterruptByToken', withLink, async (call) => {
    const { question } = await counted(context, call, (token) => context.host.interrupts.inspectLink(token));
    return { status: 200, body: JSON.stringify(question) };
  });

  serve('readQuestionLink', withLink, async (request, reply) => {
    const linked = await counted(context, request, (token) => context.host.interrupts.inspectLink(token));
    return sendJson(reply, 200, JSON.stringify(linked));
  });

  // A link is to its question what a key is to a tenant: what it does not open is not talked about.
  const withAnswerLink = {
    before: async (call: Call) => {
      await withLink.before(call);
      const isRepeatable = call.headers['idempotency-key'] !== undefined;
      await counted(context, call, (token) => context.host.interrupts.checkLink(token, isRepeatable));
    },
  };

  serve.everywhere('resolveInterruptByToken', withAnswerLink, async (call) => {
    const { resumeValue } = parseResolve(bodyOf(call));
    const value = resumeValue as Json;
    const claim = idempotencyOf(call, {
      operation: ANSWER,
      target: [],
      body: value,
      render: renderLinked,
    });
    const address = addressOf(call);
    const answer = await counted(context, call, (token) =>
      context.host.interrupts.answerLink(token, value, {
        address,
        ...(claim !== undefined && { idempotency: claim }),
      }),
    );
    return answer.replayed ? replayOf(answer) : renderLinked(answer);
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
  call: Call,
  use: (token: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await use(pathParam(call, 'token'));
  } catch (error) {
    if (isHostError(error, 'interrupt_not_found')) context.attempts.count(call);
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
  call: Call,
  { operation, value, isAlias }: Asked,
): Promise<Answered> {
  const runId = pathParam(call, 'runId');
  const nodeId = pathParam(call, 'nodeId');
  const caller = callerOf(call);
  const command: ResolveCommand = {
    type: 'resolve',
    ...placeOf(nodeId),
    value,
    by: caller.principal,
    byUser: caller.kind === 'user',
    viaLink: false,
  };
  const claim = idempotencyOf(call, {
    operation,
    target: [runId, nodeId],
    body: value,
    render: (outcome: CommandOutcome) => render(runId, nodeId, outcome, isAlias),
  });
  const answer = await context.host.runs.command(caller, runId, command, claim);
  if (answer === undefined) throw noSuchRun();
  return answer.replayed ? replayOf(answer) : render(runId, nodeId, answer, isAlias);
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
  { commandResult, status }: CommandOutcome,
  isAlias: boolean,
): Answered {
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

function renderLinked({ runId, nodeId, ...outcome }: LinkOutcome): Answered {
  return render(runId, nodeId, outcome, true);
}

function bodyOf({ body }: Call): Json {
  return (body as Json | undefined) ?? {};
}
