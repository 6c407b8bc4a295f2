import { MapNodeTypeSchema } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { queryOf, textParam } from '../../http/query.ts';

const parseMapping = bodyParser(MapNodeTypeSchema);

/** The node types that definitions may use. */
export const nodeTypeRoutes: Routes = (serve, { host }) => {
  serve('listNodeTypes', async (request, reply) => {
    const types = await host.nodeTypes.list(callerOf(request), textParam(queryOf(request), 'typeId'));
    return sendJson(reply, 200, JSON.stringify({ types }));
  });

  serve('mapNodeType', async (request, reply) => {
    const typeId = pathParam(request, 'typeId');
    const { version, to } = parseMapping(request.body);
    await host.nodeTypes.map(callerOf(request), typeId, version, to);
    return reply.code(204).send();
  });
};
