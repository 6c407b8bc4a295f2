import { jsonText } from '@weft/engine';
import { pathOf, type RunSnapshot } from '@weft/protocol';
import { callerOf, pathParam, type Routes } from '../../app-context.ts';
import { noSuchRun } from '../../http/errors.ts';
import { isUnchanged, quoted, UNCHANGED } from '../../http/etag.ts';
import { openWait, preferredWait, type Waiting } from './prefer-wait.ts';

/** A run as it stands now. The validator comes with the snapshot from one read, so a 304 is never stale. */
export const readRunRoutes: Routes = (serve, context) => {
  serve.everywhere('getRun', { ofRun: true }, async (call, leaving) => {
    const caller = callerOf(call);
    const runId = pathParam(call, 'runId');
    const seconds = preferredWait(call);
    const waited =
      seconds === undefined ? undefined : await waitedFor(runId, openWait(context, caller, seconds, leaving));
    const view = await context.host.runs.snapshot(caller, runId);
    if (view === undefined) throw noSuchRun();
    const etag = quoted(view.etag);
    const headers = { etag, 'cache-control': 'private, no-cache', ...waited };
    if (isUnchanged(call, etag)) return { ...UNCHANGED, headers };
    const shown = withCallback(view.snapshot, context.publicUrl(call));
    return { status: 200, body: await jsonText(caller.tenant, shown), headers };
  });
};

async function waitedFor(runId: string, waiting: Waiting): Promise<Waiting['headers']> {
  try {
    await waiting.forEnd(runId);
    return waiting.headers;
  } finally {
    waiting.end();
  }
}

/** The engine knows no URLs: the address of a link is added here. */
function withCallback(snapshot: RunSnapshot, origin: string): RunSnapshot {
  const { interrupt } = snapshot as { interrupt?: { interruptToken?: string } };
  if (interrupt?.interruptToken === undefined) return snapshot;
  const callbackUrl = origin + pathOf('inspectInterruptByToken', { token: interrupt.interruptToken });
  return { ...snapshot, interrupt: { ...interrupt, callbackUrl } };
}
