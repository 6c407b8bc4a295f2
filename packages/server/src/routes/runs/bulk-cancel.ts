import type { Caller, Command } from '@weft/engine';
import {
  BULK_CANCEL_MAX_RUN_IDS,
  BulkCancelRequestSchema,
  type BulkCancelResponse,
  HostError,
  isHostError,
  isJsonObject,
  type Json,
  type JsonObject,
  operationOf,
  route,
} from '@weft/protocol';
import { callerOf, type AppContext, type Routes } from '../../app-context.ts';
import { idempotencyOf, type Render, replayOf } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';

const parseBulkCancel = bodyParser(BulkCancelRequestSchema);
const OPERATION = operationOf(route('bulkCancelRuns'));
const AT_ONCE = 8;
const render: Render<BulkCancelResponse> = (outcome) => ({ status: 200, body: JSON.stringify(outcome) });

type Item = BulkCancelResponse['results'][number] & JsonObject;

/** Cancels many runs. Each id stands for itself; the answer keeps their order. */
export const bulkCancelRoutes: Routes = (serve, context) => {
  serve.everywhere('bulkCancelRuns', {}, async (call) => {
    const body = call.body as Json | undefined;
    refuseTooMany(body);
    const { runIds, reason } = parseBulkCancel(body);
    const caller = callerOf(call);
    const command: Command = {
      type: 'cancel',
      by: caller.principal,
      ...(reason === undefined ? {} : { reason }),
    };
    const claim = idempotencyOf(call, { operation: OPERATION, target: [], body: body ?? null, render });
    const answer = await context.host.once(caller, claim, async () => ({
      results: await mapBounded(runIds, (runId) => cancelOne(context, caller, runId, command)),
    }));
    return answer.replayed ? replayOf(answer) : render(answer.outcome);
  });
};

function refuseTooMany(body: Json | undefined): void {
  const runIds = isJsonObject(body) ? body['runIds'] : undefined;
  if (!Array.isArray(runIds) || (runIds.length > 0 && runIds.length <= BULK_CANCEL_MAX_RUN_IDS)) return;
  throw new HostError('validation_error', `runIds must name 1 to ${BULK_CANCEL_MAX_RUN_IDS} runs.`, {
    field: 'runIds',
    maxRunIds: BULK_CANCEL_MAX_RUN_IDS,
    observed: runIds.length,
  });
}

async function cancelOne(
  context: AppContext,
  caller: Caller,
  runId: string,
  command: Command,
): Promise<Item> {
  try {
    const answer = await context.host.runs.command(caller, runId, command);
    if (answer === undefined)
      return failed(runId, 'not_found', 'No run with this id is visible to this key.');
    if (answer.replayed) throw new Error('a command without an idempotency claim was replayed');
    const status = answer.commandResult?.status ?? answer.status;
    if (status === 'cancelled' || status === 'cancelling') return { runId, ok: true, status };
    return failed(runId, 'run_terminal', `The run has already ended as ${status}.`);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return failed(runId, error.code, error.message);
  }
}

function failed(runId: string, code: string, message: string): Item {
  return { runId, ok: false, error: { code, message } };
}

async function mapBounded<Out>(ids: readonly string[], work: (id: string) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < ids.length; index = next++)
      results[index] = await work(ids[index] ?? '');
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, ids.length) }, worker));
  return results;
}
