import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';

/** Which run started this one. */
export const ancestryRoutes: Routes = (serve, context) => {
  serve('getRunAncestry', { ofRun: true }, async (request, reply) => {
    const ancestry = await context.host.runs.ancestry(callerOf(request), pathParam(request, 'runId'));
    if (ancestry === undefined) throw noSuchRun();
    return sendJson(reply, 200, JSON.stringify(ancestry));
  });
};
