import type { PromptFilter } from '@weft/engine';
import {
  CreatePromptSchema,
  HostError,
  pathOf,
  PROMPT_KINDS,
  RenderPromptSchema,
  UpdatePromptSchema,
} from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import type { Call } from '../../call.ts';
import { isUnchanged, quoted, sendUnchanged } from '../../http/etag.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { integerParam, listParam, queryOf, textParam } from '../../http/query.ts';

const parseCreate = bodyParser(CreatePromptSchema);
const parseUpdate = bodyParser(UpdatePromptSchema);
const parseRender = bodyParser(RenderPromptSchema);
const LIBRARY = 'default';
const MOST_ROWS = 200;
const RENDER_BYTES = 262_144;

/** The library of prompt templates of the caller's tenant. */
export const promptRoutes: Routes = (serve, { host, publicUrl }) => {
  serve('listPrompts', async (request, reply) => {
    const query = queryOf(request);
    const limit = integerParam(query, 'limit', { min: 1, max: MOST_ROWS }) ?? 50;
    const cursor = textParam(query, 'cursor');
    const page = cursor === undefined ? { limit } : { limit, cursor };
    const { rows, nextCursor } = await host.prompts.list(callerOf(request), filterOf(request), page);
    return sendJson(reply, 200, JSON.stringify({ items: rows, nextCursor }));
  });

  serve('createPrompt', async (request, reply) => {
    const made = await host.prompts.create(callerOf(request), parseCreate(request.body));
    const { templateId, version } = made;
    const path = pathOf('getPrompt', { templateId });
    reply.header('location', `${publicUrl(request)}${path}?version=${encodeURIComponent(version)}`);
    return sendJson(reply, 201, JSON.stringify(made));
  });

  serve('getPrompt', async (request, reply) => {
    const query = queryOf(request);
    const version = textParam(query, 'version');
    const isOurs = (textParam(query, 'libraryId') ?? LIBRARY) === LIBRARY;
    const templateId = pathParam(request, 'templateId');
    const found = isOurs ? await host.prompts.get(callerOf(request), templateId, version) : undefined;
    if (found === undefined) throw missing();
    const etag = quoted(found.digest);
    // A version never changes; which one is the newest does.
    reply
      .header('etag', etag)
      .header('cache-control', version === undefined ? 'private, no-cache' : IMMUTABLE);
    if (isUnchanged(request, etag)) return sendUnchanged(reply);
    return sendJson(reply, 200, JSON.stringify(found.template));
  });

  serve('updatePrompt', async (request, reply) => {
    const templateId = pathParam(request, 'templateId');
    const given = parseUpdate(request.body);
    if (given.templateId !== undefined && given.templateId !== templateId) {
      const message = 'templateId: it is not the one in the path; leave it out, or ask for its own path.';
      throw new HostError('validation_error', message, { field: 'templateId' });
    }
    const made = await host.prompts.update(callerOf(request), { ...given, templateId });
    if (made === undefined) throw missing();
    return sendJson(reply, 200, JSON.stringify(made));
  });

  serve('removePrompt', async (request, reply) => {
    if (!(await host.prompts.remove(callerOf(request), pathParam(request, 'templateId')))) throw missing();
    return reply.code(204).send();
  });

  serve('renderPrompt', { bodyLimit: RENDER_BYTES }, async (request, reply) => {
    const rendered = await host.prompts.render(callerOf(request), parseRender(request.body));
    return sendJson(reply, 200, JSON.stringify(rendered));
  });
};

const IMMUTABLE = 'private, max-age=31536000, immutable';

function filterOf(request: Call): PromptFilter {
  const query = queryOf(request);
  const kind = textParam(query, 'kind');
  if (kind !== undefined && !PROMPT_KINDS.some((known) => known === kind)) {
    const message = `The parameter "kind" must be one of ${PROMPT_KINDS.join(', ')}.`;
    throw new HostError('validation_error', message, { field: 'kind' });
  }
  return {
    kind,
    tags: listParam(query, 'tag') ?? [],
    modelClass: textParam(query, 'modelClass'),
    source: textParam(query, 'source'),
  };
}

function missing(): HostError {
  return new HostError('not_found', 'No prompt template of this id and version belongs to this tenant.');
}
