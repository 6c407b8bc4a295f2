import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';

/** GET /v1/runs/{runId}/ancestry. */
export const ancestryRoutes: Routes = (app, context) => {
  app.get(
    '/v1/runs/:runId/ancestry',
    context.allow('getAncestry', { ofRun: true }),
    async (request, reply) => {
      const ancestry = await context.host.runs.ancestry(callerOf(request), pathParam(request, 'runId'));
      if (ancestry === undefined) throw noSuchRun();
      return sendJson(reply, 200, JSON.stringify(ancestry));
    },
  );
};
