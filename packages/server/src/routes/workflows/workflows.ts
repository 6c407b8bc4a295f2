import type { Registration, WorkflowProblem } from '@weft/engine';
import { HostError, type Json, operationOf, route, toIso } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { idempotencyOfLarge, type Render, sendReplay } from '../../http/idempotency.ts';
import { booleanParam, queryOf, textParam } from '../../http/query.ts';
import { pageOf } from '../page.ts';

const REGISTER = operationOf(route('registerWorkflow'));
const render: Render<Registration> = (outcome) => ({
  status: outcome.created ? 201 : 200,
  body: JSON.stringify(outcome),
});

/** The protocol's read of a workflow, and this host's own registration next to it. */
export const workflowRoutes: Routes = (serve, context) => {
  serve.everywhere('getWorkflow', {}, async (call) => {
    const definition = await context.host.workflows.get(callerOf(call), pathParam(call, 'workflowId'));
    if (definition === undefined) throw noSuchWorkflow();
    return { status: 200, body: JSON.stringify(definition) };
  });

  serve('listWorkflows', async (request, reply) => {
    const page = pageOf(request);
    const { rows, nextCursor } = await context.host.workflows.list(callerOf(request), page);
    return sendJson(
      reply,
      200,
      JSON.stringify({
        workflows: rows.map((row) => ({ ...row, registeredAt: toIso(row.registeredAt) })),
        nextCursor,
        ...(page.cursor === undefined && { waiting: context.host.workflows.waiting(callerOf(request)) }),
      }),
    );
  });

  serve('getWorkflowVersion', async (request, reply) => {
    const version = textParam(queryOf(request), 'version');
    const definition = await context.host.workflows.get(
      callerOf(request),
      pathParam(request, 'workflowId'),
      version,
    );
    if (definition === undefined) throw noSuchWorkflow();
    return sendJson(reply, 200, JSON.stringify(definition));
  });

  serve('registerWorkflow', async (request, reply) => {
    const strict = booleanParam(queryOf(request), 'strict');
    const definition = definitionOf(request);
    const caller = callerOf(request);
    const claim = await idempotencyOfLarge(request, {
      operation: REGISTER,
      target: [],
      body: [strict, definition],
      render,
    });
    const answer = await context.host.once(caller, claim, async () => {
      const registered = await context.host.workflows.register(caller, definition, { strict, dev: false });
      return { ...registered, warnings: registered.warnings.map((warning) => ({ ...warning })) };
    });
    if (answer.replayed) return sendReplay(reply, answer);
    const { status, body } = render(answer.outcome);
    return sendJson(reply, status, body);
  });

  serve('checkWorkflow', async (request, reply) => {
    const strict = booleanParam(queryOf(request), 'strict');
    const { errors, warnings, pinned } = await context.host.workflows.check(
      definitionOf(request),
      callerOf(request).tenant,
    );
    const problems: readonly WorkflowProblem[] = strict ? [...errors, ...warnings] : errors;
    return sendJson(reply, 200, JSON.stringify({ ok: problems.length === 0, errors, warnings, pinned }));
  });
};

function definitionOf(request: FastifyRequest): Json {
  const body = request.body as Json | undefined;
  if (body === undefined) {
    throw new HostError('validation_error', 'The body must be a workflow definition.', { field: 'body' });
  }
  return body;
}

function noSuchWorkflow(): HostError {
  return new HostError('not_found', 'No workflow with this id is registered for this key’s tenant.', {
    field: 'workflowId',
  });
}
