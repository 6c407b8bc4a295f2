import type { RunListFilter } from '@weft/engine';
import { HostError, RUN_STATUSES, type SnapshotStatus } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { listParam, type Query, queryOf, textParam, timeParam } from '../../http/query.ts';
import { untilLeft } from '../../http/until-left.ts';
import { pageOf } from '../page.ts';

/** Lists and explanations, which the protocol does not have. */
export const listRunRoutes: Routes = (serve, context) => {
  serve('listRuns', async (request, reply) => {
    const filter = filterOf(queryOf(request));
    const { rows, nextCursor } = await context.host.runs.list(
      callerOf(request),
      filter,
      pageOf(request),
      untilLeft(reply),
    );
    return sendJson(reply, 200, JSON.stringify({ runs: rows, nextCursor }));
  });

  serve('explainRun', { ofRun: true }, async (request, reply) => {
    const explanation = await context.host.runs.explain(callerOf(request), pathParam(request, 'runId'));
    if (explanation === undefined) throw noSuchRun();
    return sendJson(reply, 200, JSON.stringify(explanation));
  });

  serve('releaseRun', { ofRun: true }, async (request, reply) => {
    const runId = pathParam(request, 'runId');
    if (!(await context.host.runs.release(callerOf(request), runId))) throw noSuchRun();
    return sendJson(reply, 200, JSON.stringify({ runId, released: true }));
  });
};

function filterOf(query: Query): RunListFilter {
  const status = listParam(query, 'status')?.map(knownStatus);
  const workflowId = textParam(query, 'workflowId');
  const tag = textParam(query, 'tag');
  const source = textParam(query, 'source');
  const since = timeParam(query, 'since');
  const until = timeParam(query, 'until');
  const quarantined = textParam(query, 'quarantined');
  if (quarantined !== undefined && quarantined !== 'true')
    throw new HostError('validation_error', '"quarantined" can only be true.', { field: 'quarantined' });
  return {
    ...(quarantined === undefined ? {} : { quarantined: true }),
    ...(status === undefined ? {} : { status }),
    ...(workflowId === undefined ? {} : { workflowId }),
    ...(tag === undefined ? {} : { tag }),
    ...(source === undefined ? {} : { source }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

function knownStatus(name: string): SnapshotStatus {
  const status = RUN_STATUSES.find((known) => known === name);
  if (status !== undefined) return status;
  throw new HostError('validation_error', `"status" must be one of ${RUN_STATUSES.join(', ')}.`, {
    field: 'status',
    allowed: [...RUN_STATUSES],
  });
}
