import { type Static, Type } from 'typebox';
import { count, dateTime, nonEmpty, open } from '../documents/schema-parts.ts';
import { describeRoutes } from './route-description.ts';

/** The processes that share a store, as administrators see them. */
export const ClusterNodeSchema = open({
  name: nonEmpty,
  state: Type.Enum(['active', 'draining', 'drained', 'lost']),
  version: Type.Optional(Type.String()),
  startedAt: Type.Optional(dateTime),
  deadline: dateTime,
  runs: count,
  isSelf: Type.Boolean({ description: 'True for the process that answers.' }),
});

export const ClusterNodeListSchema = open({ nodes: Type.Array(ClusterNodeSchema) });

export type ClusterNodeDocument = Static<typeof ClusterNodeSchema>;

export const CLUSTER_ROUTES = describeRoutes({
  listNodes: {
    scope: 'host:admin',
    summary: 'The processes that share this store, and how many runs each holds.',
    responses: { 200: { description: 'All of them.', schema: ClusterNodeListSchema } },
    errors: [],
  },
  drainNode: {
    scope: 'host:admin',
    summary: 'Asks a process to claim no runs any more and to leave those it holds to the others.',
    responses: { 202: { description: 'It was asked.', schema: ClusterNodeSchema } },
    errors: ['not_found'],
  },
});
