import type { ForkedRun, ForkRequest } from '@weft/engine';
import {
  type ForkRunRequest,
  ForkRunSchema,
  type HostForkRunRequest,
  HostForkRunSchema,
  type Json,
  operationOf,
  pathOf,
  route,
} from '@weft/protocol';
import { callerOf, type AppContext, pathParam, type Routes } from '../../app-context.ts';
import type { Operation } from '../../call.ts';
import { noSuchRun } from '../../http/errors.ts';
import { idempotencyOf, replayOf } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';

const ACCESS = { isNewWork: true, ofRun: true };

/** Forks as the protocol has them, and with more to change under our own prefix. */
export const forkRoutes: Routes = (serve, context) => {
  serve.everywhere(
    'forkRun',
    ACCESS,
    forkOperation(context, operationOf(route('forkRun')), bodyParser(ForkRunSchema)),
  );

  serve.everywhere(
    'forkRunWith',
    ACCESS,
    forkOperation(context, operationOf(route('forkRunWith')), bodyParser(HostForkRunSchema)),
  );
};

function forkOperation(
  context: AppContext,
  operation: string,
  parse: (body: unknown) => ForkRunRequest | HostForkRunRequest,
): Operation {
  return async (call) => {
    const runId = pathParam(call, 'runId');
    const asked = forkOf(parse(call.body));
    const origin = context.publicUrl(call);
    const claim = idempotencyOf(call, {
      operation,
      target: [runId],
      body: (call.body ?? null) as Json,
      render: (outcome: ForkedRun) => ({ status: 201, body: renderForked(origin, outcome) }),
    });
    const forked = await context.host.runs.fork(callerOf(call), runId, asked, claim);
    if (forked === undefined) throw noSuchRun();
    if (forked.replayed) return replayOf(forked, { location: locationOf(forked.body) });
    const location = origin + pathOf('getRun', { runId: forked.runId });
    return { status: 201, body: renderForked(origin, forked), headers: { location } };
  };
}

function forkOf({ runOptionsOverlay, ...asked }: ForkRunRequest | HostForkRunRequest): ForkRequest {
  return { ...asked, ...(runOptionsOverlay !== undefined && { overlay: runOptionsOverlay }) };
}

function renderForked(origin: string, { runId, sourceRunId, fromSeq, mode, status }: ForkedRun): string {
  const eventsUrl = origin + pathOf('streamRunEvents', { runId });
  return JSON.stringify({ runId, sourceRunId, fromSeq, mode, status, eventsUrl });
}

/** What is replayed is what was answered first, its headers included. */
function locationOf(body: string): string {
  const { runId, eventsUrl } = JSON.parse(body) as { runId: string; eventsUrl: string };
  return eventsUrl.slice(0, -pathOf('streamRunEvents', { runId }).length) + pathOf('getRun', { runId });
}
