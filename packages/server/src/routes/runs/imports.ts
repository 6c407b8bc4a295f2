import { HostError, type Json } from '@weft/protocol';
import { callerOf, type Routes, sendJson } from '../../app-context.ts';

/** A bundle has at most 8 MiB; a little more for spaces that a client has added. */
const MAX_BUNDLE_BYTES = 8 * 1024 * 1024 + 256 * 1024;

/** A debug bundle, as JSON or as gzipped JSON, becomes a run that is only read. */
export const importRoutes: Routes = (serve, context) => {
  serve(
    'importBundle',
    {
      isNewWork: true,
      bodyLimit: MAX_BUNDLE_BYTES,
    },
    async (request, reply) => {
      const body = request.body as Json | undefined;
      if (body === undefined)
        throw new HostError('validation_error', 'The body must be a debug bundle.', { field: 'body' });
      const { created, ...run } = await context.host.imports.create(callerOf(request), body);
      return sendJson(reply, created ? 201 : 200, JSON.stringify(run));
    },
  );
};
