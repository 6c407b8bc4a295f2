import type { AcceptedRun, Caller, NewRun, RunEnd, StopSignal } from '@weft/engine';
import {
  type CreateRunRequest,
  type CreateRunResponse,
  CreateRunSchema,
  HostError,
  isJsonObject,
  type Json,
  operationOf,
  pathOf,
  route,
} from '@weft/protocol';
import { callerOf, type Routes } from '../../app-context.ts';
import type { Answered, Call } from '../../call.ts';
import { idempotencyOf, replayOf } from '../../http/idempotency.ts';
import { bodyParser } from '../../http/parse-body.ts';
import { openWait, preferredWait } from './prefer-wait.ts';
import { parseInteger } from '../../http/query.ts';
import { traceparentOf } from '../../http/trace-context.ts';

const OPERATION = operationOf(route('createRun'));
const parseCreateRun = bodyParser(CreateRunSchema);

/** Starts a run. The hot path: no closures unless the request has an Idempotency-Key. */
export const createRunRoutes: Routes = (serve, context) => {
  serve.everywhere('createRun', { isNewWork: true }, (call, leaving) => {
    const seconds = preferredWait(call);
    // What ended the run is for those who may read it.
    const mayWait = seconds !== undefined && callerOf(call).scopes.has('runs:read');
    return mayWait ? createAndWait(call, seconds, leaving) : create(call);
  });

  async function createAndWait(call: Call, seconds: number, leaving: () => StopSignal): Promise<Answered> {
    const waiting = openWait(context, callerOf(call), seconds, leaving);
    try {
      const answered = await create(call);
      const created = JSON.parse(answered.body) as CreateRunResponse;
      const end = await waiting.forEnd(created.runId);
      const body = end === undefined ? answered.body : renderEnded(created, end);
      return { ...answered, body, headers: { ...answered.headers, ...waiting.headers } };
    } finally {
      waiting.end();
    }
  }

  async function create(call: Call): Promise<Answered> {
    const caller = callerOf(call);
    const body = call.body as Json | undefined;
    refuseForeignTenant(body, caller);
    refuseEval(body);
    const asked = parseCreateRun(body);
    const run = newRun(call, asked);
    const origin = context.publicUrl(call);

    const claim =
      call.headers['idempotency-key'] === undefined
        ? undefined
        : idempotencyOf(call, {
            operation: OPERATION,
            target: [],
            body: digested(body, call),
            render: (outcome: AcceptedRun) => ({ status: 201, body: renderCreated(origin, outcome) }),
          });
    const accepted = await context.host.runs.create(caller, run, claim);
    if (accepted.replayed) return replayOf(accepted, { location: statusUrlOf(accepted.body) });
    const location = origin + pathOf('getRun', { runId: accepted.runId });
    return { status: 201, body: renderCreated(origin, accepted), headers: { location } };
  }
};

/** The event is text already, and may be long. */
function renderEnded({ weft, ...created }: CreateRunResponse, { status, event }: RunEnd): string {
  const head = JSON.stringify({ ...created, status, weft: { ...weft, lastEvent: null } });
  return `${head.slice(0, -'null}}'.length)}${event.document}}}`;
}

function renderCreated(origin: string, { runId, status, ignoredInputs }: AcceptedRun): string {
  const eventsUrl = origin + pathOf('streamRunEvents', { runId });
  const statusUrl = origin + pathOf('getRun', { runId });
  return JSON.stringify({ runId, status, eventsUrl, statusUrl, weft: ignoredInputs && { ignoredInputs } });
}

/** What is replayed is what was answered first, its headers included. */
function statusUrlOf(body: string): string {
  return (JSON.parse(body) as { statusUrl: string }).statusUrl;
}

/** The tenant is the key's; naming another one is an attempt to reach it. */
function refuseForeignTenant(body: Json | undefined, caller: Caller): void {
  if (!isJsonObject(body) || typeof body['tenantId'] !== 'string' || body['tenantId'] === caller.tenant)
    return;
  throw new HostError('forbidden', 'This key belongs to another tenant than tenantId; leave tenantId out.', {
    field: 'tenantId',
  });
}

function refuseEval(body: Json | undefined): void {
  if (!isJsonObject(body) || body['mode'] !== 'eval') return;
  throw new HostError('capability_not_provided', 'This host runs no evaluations; leave "mode" out.', {
    capability: 'agents.evalSuite',
  });
}

function newRun(call: Call, asked: CreateRunRequest): NewRun {
  const exclusiveScope = dedupOf(call, asked);
  const forceEngineVersion = engineVersionOf(call);
  const traceparent = traceparentOf(call.headers['traceparent']);
  return {
    workflowId: asked.workflowId,
    inputs: asked.inputs ?? {},
    configurable: asked.configurable ?? {},
    tags: asked.tags ?? [],
    metadata: asked.metadata ?? {},
    exclusiveScope,
    ...(asked.scopeId === undefined ? {} : { scopeId: asked.scopeId }),
    ...(asked.callbackUrl === undefined ? {} : { callbackUrl: asked.callbackUrl }),
    ...(forceEngineVersion === undefined ? {} : { forceEngineVersion }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function dedupOf(call: Call, asked: CreateRunRequest): boolean {
  const header = call.headers['x-dedup'];
  if (header === undefined) return false;
  if (header !== 'enforce') {
    throw new HostError('validation_error', 'X-Dedup has one value: enforce.', { field: 'X-Dedup' });
  }
  if (asked.scopeId === undefined) {
    throw new HostError('validation_error', 'X-Dedup: enforce needs a scopeId in the body.', {
      field: 'scopeId',
    });
  }
  return true;
}

function engineVersionOf(call: Call): number | undefined {
  const header = call.headers['x-force-engine-version'];
  if (header === undefined) return undefined;
  const version = typeof header === 'string' ? parseInteger(header) : undefined;
  if (version === undefined || version < 0) {
    throw new HostError('validation_error', 'X-Force-Engine-Version must be an integer of 0 or more.', {
      field: 'X-Force-Engine-Version',
    });
  }
  return version;
}

/** Headers that change what is created are part of what the request was. */
function digested(body: Json | undefined, call: Call): Json {
  const dedup = call.headers['x-dedup'];
  const engine = call.headers['x-force-engine-version'];
  if (dedup === undefined && engine === undefined) return body ?? null;
  return [body ?? null, String(dedup ?? ''), String(engine ?? '')];
}
