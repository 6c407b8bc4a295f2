import { HostError, toIso } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { queryOf, textParam } from '../../http/query.ts';
import { pageOf } from '../page.ts';

/** What schedules and triggers should have started and did not, and runs that failed after their last retry. */
export const deadLetterRoutes: Routes = (serve, { host }) => {
  serve('listDeadLetters', async (request, reply) => {
    const page = pageOf(request);
    const listed = await host.deadLetters.list(callerOf(request), sourceOf(request), page);
    const deadLetters = listed.rows.map(({ at, dueAt, ...letter }) => ({
      ...letter,
      at: toIso(at),
      ...(dueAt !== undefined && { dueAt: toIso(dueAt) }),
    }));
    return sendJson(reply, 200, JSON.stringify({ deadLetters, nextCursor: listed.nextCursor }));
  });

  serve('replayDeadLetter', { isNewWork: true }, async (request, reply) => {
    const id = pathParam(request, 'letterId');
    const started = await host.deadLetters.replay(callerOf(request), sourceOf(request), id);
    if (started === undefined) throw missing();
    return sendJson(reply, 201, JSON.stringify(started));
  });

  serve('removeDeadLetter', async (request, reply) => {
    const id = pathParam(request, 'letterId');
    if (!(await host.deadLetters.remove(callerOf(request), sourceOf(request), id))) throw missing();
    return reply.code(204).send();
  });
};

function sourceOf(request: FastifyRequest): string {
  const source = textParam(queryOf(request), 'source');
  if (source !== undefined) return source;
  throw new HostError(
    'validation_error',
    'Say which: source=schedule:NAME, source=trigger:ID or source=runs.',
    {
      field: 'source',
    },
  );
}

function missing(): HostError {
  return new HostError('not_found', 'No such dead letter of this source belongs to this tenant.');
}
