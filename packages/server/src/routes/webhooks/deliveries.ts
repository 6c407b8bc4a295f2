import { HostError, operationOf, route } from '@weft/protocol';
import { callerOf, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { idempotencyOf, REPLAY_HEADER } from '../../http/idempotency.ts';
import { queryOf, textParam } from '../../http/query.ts';
import { pageOf } from '../page.ts';

const REPLAY = operationOf(route('replayDelivery'));

/** Callbacks and webhook deliveries that were given up, and the way to try one again. */
export const deliveryRoutes: Routes = (serve, context) => {
  serve('listDeliveries', async (request, reply) => {
    const state = textParam(queryOf(request), 'state') ?? 'dead';
    if (state !== 'dead') {
      throw new HostError('validation_error', 'The parameter "state" has one value: dead.', {
        field: 'state',
        supported: ['dead'],
      });
    }
    const { rows, nextCursor } = await context.host.webhooks.deadDeliveries(
      callerOf(request),
      pageOf(request),
    );
    return sendJson(reply, 200, JSON.stringify({ deliveries: rows, nextCursor }));
  });

  serve('replayDelivery', async (request, reply) => {
    const caller = callerOf(request);
    const deliveryId = pathParam(request, 'deliveryId');
    const claim = idempotencyOf(request, {
      operation: REPLAY,
      target: [deliveryId],
      body: null,
      render: () => ({ status: 202, body: '' }),
    });
    const answer = await context.host.once(caller, claim, async () => {
      if (await context.host.webhooks.replay(caller, deliveryId)) return null;
      throw new HostError('not_found', 'No dead delivery with this id belongs to this tenant.');
    });
    if (answer.replayed) reply.header(REPLAY_HEADER, 'true');
    return reply.code(202).send();
  });
};
