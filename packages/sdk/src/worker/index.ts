export type { WorkerLog } from './report-sender.ts';
export { type NodeWorker, serveNodes, type ServeNodesOptions } from './serve-nodes.ts';
export type { Around, TaskMessage } from './task.ts';
export { ownLine } from '../nodes/node-error.ts';
