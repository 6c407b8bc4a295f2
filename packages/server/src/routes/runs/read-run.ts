import { jsonText } from '@weft/engine';
import { pathOf, type RunSnapshot } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { isUnchanged, quoted, sendUnchanged } from '../../http/etag.ts';

/** A run as it stands now. The validator comes with the snapshot from one read, so a 304 is never stale. */
export const readRunRoutes: Routes = (serve, context) => {
  serve('getRun', { ofRun: true }, async (request, reply) => {
    const view = await context.host.runs.snapshot(callerOf(request), pathParam(request, 'runId'));
    if (view === undefined) throw noSuchRun();
    const etag = quoted(view.etag);
    reply.header('etag', etag).header('cache-control', 'private, no-cache');
    if (isUnchanged(request, etag)) return sendUnchanged(reply);
    const shown = withCallback(view.snapshot, context.publicUrl(request));
    return sendJson(reply, 200, await jsonText(callerOf(request).tenant, shown));
  });
};

/** The engine knows no URLs: the address of a link is added here. */
function withCallback(snapshot: RunSnapshot, origin: string): RunSnapshot {
  const { interrupt } = snapshot as { interrupt?: { interruptToken?: string } };
  if (interrupt?.interruptToken === undefined) return snapshot;
  const callbackUrl = origin + pathOf('inspectInterruptByToken', { token: interrupt.interruptToken });
  return { ...snapshot, interrupt: { ...interrupt, callbackUrl } };
}
