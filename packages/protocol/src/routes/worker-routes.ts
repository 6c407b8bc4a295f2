import { name } from '../documents/schema-parts.ts';
import {
  MapNodeTypeSchema,
  NodeTypeListSchema,
  RegisteredWorkerSchema,
  RegisterWorkerSchema,
  TaskReceiptSchema,
  TaskReportSchema,
  WorkerListSchema,
  WorkerMessageSchema,
} from '../documents/workers.ts';
import { describeRoutes } from './route-description.ts';

/** Code of users: who serves which node types, and the way of tasks to workers and back. */
export const WORKER_ROUTES = describeRoutes({
  registerWorker: {
    scope: 'workers:serve',
    summary: 'Opens a session of a worker and makes its node types known.',
    request: { schema: RegisterWorkerSchema, required: true },
    responses: { 201: { description: 'The session.', schema: RegisteredWorkerSchema } },
    errors: ['validation_error', 'node_type_conflict', 'insecure_transport'],
  },
  streamTasks: {
    scope: 'workers:serve',
    summary: 'The tasks of a worker, a JSON document a line, until the session ends. One stream per session.',
    responses: {
      200: {
        description: 'Lines of JSON, each a message.',
        schema: WorkerMessageSchema,
        contentType: 'application/x-ndjson',
        headers: ['X-Accel-Buffering'],
      },
    },
    errors: ['not_found'],
  },
  reportTasks: {
    scope: 'workers:serve',
    summary: 'What became of tasks; an empty report is a heartbeat. Answered when the results are durable.',
    request: { schema: TaskReportSchema, required: true },
    responses: {
      200: {
        description: 'How long the worker holds its tasks, and what was refused.',
        schema: TaskReceiptSchema,
      },
    },
    errors: ['validation_error', 'not_found'],
  },
  closeWorker: {
    scope: 'workers:serve',
    summary:
      'Ends a session at once; tasks still in hand are performed by other workers, as after a lost lease.',
    responses: { 204: { description: 'It has ended.' } },
    errors: ['not_found'],
  },
  listWorkers: {
    scope: 'manifest:read',
    summary: 'Workers of the tenant, on every process.',
    responses: { 200: { description: 'All of them.', schema: WorkerListSchema } },
    errors: [],
  },
  listNodeTypes: {
    scope: 'manifest:read',
    summary: 'Node types that a definition may use: those of the host, and those that workers have served.',
    query: [{ name: 'typeId', description: 'Only versions of this type.', schema: name }],
    responses: { 200: { description: 'All of them, with their schemas.', schema: NodeTypeListSchema } },
    errors: ['validation_error'],
  },
  mapNodeType: {
    scope: 'workflows:write',
    summary: 'Has workers of another version perform the tasks of a version of a node type.',
    request: { schema: MapNodeTypeSchema, required: true },
    responses: { 204: { description: 'Tasks that wait are offered again.' } },
    errors: ['validation_error', 'not_found'],
  },
});
