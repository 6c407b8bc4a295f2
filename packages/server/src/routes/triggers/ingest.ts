import type { IngestAnswer } from '@weft/engine';
import { isHostError, type Json } from '@weft/protocol';
import type { FastifyRequest } from 'fastify';
import { type AppContext, pathParam, type Routes, sendJson } from '../../app-context.ts';
import { RAW_BODY } from '../../http/read-json.ts';

/**
 * Deliveries to webhook triggers. No key lets them in but their signature, which is over the bytes: the body is taken as it came,
 * within the trigger's limit, and read after it was verified.
 */
export const ingestRoutes: Routes = (serve, context) => {
  const types = new WeakMap<FastifyRequest, string | undefined>();
  const options = {
    bodyLimit: context.settings.maxDeliveryBytes,
    onRequest: async (request: FastifyRequest): Promise<void> => {
      context.attempts.check(request);
      types.set(request, request.headers['content-type']);
      request.headers['content-type'] = RAW_BODY;
    },
  };
  serve('ingestDelivery', options, async (request, reply) => {
    const triggerId = pathParam(request, 'triggerId');
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const headers = headersOf(request, types.get(request));
    const answer = await ingest(context, request, { triggerId, headers, body });
    return sendJson(reply, statusOf(answer), JSON.stringify(shown(answer)));
  });
};

type Delivery = Parameters<AppContext['host']['triggers']['ingest']>[0];

async function ingest(
  { host, attempts }: AppContext,
  request: FastifyRequest,
  delivery: Delivery,
): Promise<IngestAnswer> {
  try {
    return await host.triggers.ingest(delivery);
  } catch (error) {
    if (isHostError(error, 'unauthenticated')) attempts.count(request);
    throw error;
  }
}

/** One of each name: a header that is sent twice is none that a sender signs by. */
function headersOf({ headers }: FastifyRequest, contentType: string | undefined): Delivery['headers'] {
  const single: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(headers)) single[name] = Array.isArray(value) ? value[0] : value;
  return { ...single, 'content-type': contentType };
}

function statusOf({ outcome }: IngestAnswer): number {
  return outcome === 'duplicate' || outcome === 'answered' ? 200 : 202;
}

function shown(answer: IngestAnswer): Json {
  switch (answer.outcome) {
    case 'started':
      return { runId: answer.runId };
    case 'duplicate':
      return { duplicate: true, ...(answer.runId !== undefined && { runId: answer.runId }) };
    case 'retrying':
      return { retrying: true };
    case 'dead-lettered':
      return { deadLetterId: answer.deadLetterId, reason: answer.reason };
    case 'answered':
      return answer.answer;
  }
}
