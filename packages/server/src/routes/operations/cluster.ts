import type { ClusterNode } from '@weft/engine';
import { type ClusterNodeDocument, HostError, toIso } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';

/** The processes that share the store. */
export const clusterRoutes: Routes = (serve, context) => {
  serve('listNodes', async (_request, reply) => {
    const nodes = await context.host.cluster.nodes();
    return sendJson(reply, 200, JSON.stringify({ nodes: nodes.map(documentOf) }));
  });

  serve('drainNode', async (request, reply) => {
    const drained = await context.host.cluster.drain(callerOf(request), pathParam(request, 'node'));
    if (drained === undefined)
      throw new HostError('not_found', 'No running process has this name; see the list of nodes.');
    return sendJson(reply, 202, JSON.stringify(documentOf(drained)));
  });
};

function documentOf({ startedAt, deadline, ...node }: ClusterNode): ClusterNodeDocument {
  return {
    ...node,
    deadline: toIso(deadline),
    ...(startedAt !== undefined && { startedAt: toIso(startedAt) }),
  };
}
