import { Readable } from 'node:stream';
import type { ReadableArtifact } from '@weft/engine';
import { HostError, toIso } from '@weft/protocol';
import { type AppContext, callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import type { Call } from '../../call.ts';
import { attachment } from '../../http/attachment.ts';
import { noSuchRun } from '../../http/errors.ts';
import { isUnchanged, quoted, sendUnchanged } from '../../http/etag.ts';
import { pageOf } from '../page.ts';

/**
 * What runs have produced in addition to their logs. An artifact is foreign content: it is offered for download under the
 * type it was made with, and no browser may run it as a page of ours.
 */
export const artifactRoutes: Routes = (serve, context) => {
  serve('getArtifact', { ofRun: true }, async (request, reply) => {
    const artifact = await openArtifact(context, request);
    const etag = quoted(artifact.digest);
    reply.header('etag', etag).header('cache-control', 'private, no-cache');
    if (isUnchanged(request, etag)) return sendUnchanged(reply);
    // A reader that takes nothing for this long is disconnected; nothing is read ahead for it.
    reply.raw.setTimeout(context.settings.stallMs, () => reply.raw.destroy());
    return reply
      .code(200)
      .header('content-type', artifact.mediaType)
      .header('content-length', artifact.size)
      .header('content-disposition', attachment(artifact.name))
      .header('content-security-policy', "default-src 'none'; sandbox")
      .send(Readable.from(artifact.read(), { objectMode: false }));
  });

  serve('listArtifacts', { ofRun: true }, async (request, reply) => {
    const page = pageOf(request);
    const listed = await context.host.artifacts.list(callerOf(request), pathParam(request, 'runId'), page);
    if (listed === undefined) throw noSuchRun();
    return sendJson(
      reply,
      200,
      JSON.stringify({
        artifacts: listed.rows.map((row) => ({ ...row, createdAt: toIso(row.createdAt) })),
        nextCursor: listed.nextCursor,
      }),
    );
  });
};

export async function openArtifact({ host }: AppContext, call: Call): Promise<ReadableArtifact> {
  const artifact = await host.artifacts.open(
    callerOf(call),
    pathParam(call, 'runId'),
    pathParam(call, 'artifactId'),
  );
  if (artifact !== undefined) return artifact;
  throw new HostError('not_found', 'No run with this id and artifact is visible to this key.');
}
