import { jsonText } from '@weft/engine';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { integerParam, queryOf } from '../../http/query.ts';

const SEQUENCES = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** A run as it stood after one of its events. */
export const stateAtRoutes: Routes = (serve, context) => {
  serve('getRunState', { ofRun: true }, async (request, reply) => {
    const at = integerParam(queryOf(request), 'at', SEQUENCES);
    const snapshot = await context.host.runs.stateAt(callerOf(request), pathParam(request, 'runId'), at);
    if (snapshot === undefined) throw noSuchRun();
    return sendJson(reply, 200, await jsonText(callerOf(request).tenant, snapshot));
  });
};
