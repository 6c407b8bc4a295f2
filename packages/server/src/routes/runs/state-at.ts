import { jsonText } from '@weft/engine';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { integerParam, queryOf } from '../../http/query.ts';

const SEQUENCES = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** GET /v1/host/weft/runs/{runId}/state. */
export const stateAtRoutes: Routes = (app, context) => {
  app.get(
    '/v1/host/weft/runs/:runId/state',
    context.allow('getRunState', { ofRun: true }),
    async (request, reply) => {
      const at = integerParam(queryOf(request), 'at', SEQUENCES);
      const snapshot = await context.host.runs.stateAt(callerOf(request), pathParam(request, 'runId'), at);
      if (snapshot === undefined) throw noSuchRun();
      return sendJson(reply, 200, await jsonText(callerOf(request).tenant, snapshot));
    },
  );
};
