import { TestModelSchema } from '@weft/protocol';
import { callerOf, type Routes, sendJson } from '../../app-context.ts';
import { bodyParser } from '../../http/parse-body.ts';

const parseTest = bodyParser(TestModelSchema);

/** Language models of the host. */
export const modelRoutes: Routes = (serve, { host }) => {
  serve('listModels', (request, reply) =>
    sendJson(reply, 200, JSON.stringify(host.models.list(callerOf(request)))),
  );

  serve('testModel', async (request, reply) => {
    const { model } = parseTest(request.body);
    return sendJson(reply, 200, JSON.stringify(await host.models.test(callerOf(request), model)));
  });
};
