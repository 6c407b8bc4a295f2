import { RegisterWorkerSchema, TaskReportSchema } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { isPrivateConnection } from '../../http/private-connection.ts';
import { noSuchWorker, streamTasks, TASK_LINES } from '../../stream/task-stream.ts';

const parseRegistration = bodyParser(RegisterWorkerSchema);
const parseReport = bodyParser(TaskReportSchema);

/** Those who perform what users have written. */
export const workerRoutes: Routes = (serve, context) => {
  const { workers } = context.host;

  serve('registerWorker', async (request, reply) => {
    const body = parseRegistration(request.body);
    const worker = await workers.register(callerOf(request), body, isPrivateConnection(request));
    return sendJson(reply, 201, JSON.stringify(worker));
  });

  serve('streamTasks', (request, reply) => {
    const workerId = pathParam(request, 'workerId');
    // What a stream would begin with; it is not opened.
    if (request.method === 'HEAD') return reply.header('content-type', TASK_LINES).send('');
    return streamTasks(context, reply, callerOf(request), workerId);
  });

  serve('reportTasks', async (request, reply) => {
    const body = parseReport(request.body);
    const receipt = await workers.report(callerOf(request), pathParam(request, 'workerId'), body);
    if (receipt === undefined) throw noSuchWorker();
    return sendJson(reply, 200, JSON.stringify(receipt));
  });

  serve('closeWorker', async (request, reply) => {
    if (!(await workers.close(callerOf(request), pathParam(request, 'workerId')))) throw noSuchWorker();
    return reply.code(204).send();
  });

  serve('listWorkers', async (request, reply) => {
    const listed = await workers.list(callerOf(request));
    return sendJson(reply, 200, JSON.stringify({ workers: listed }));
  });
};
