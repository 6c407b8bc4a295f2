import { isTerminalEvent } from '@weft/engine';
import type { JsonObject } from '@weft/protocol';
import { comparable, type EventDocument } from '../checking/history.ts';
import type { Answer, HttpClient } from './http.ts';
import type { Random } from '../random.ts';
import { countIn, type Receipts } from './receipts.ts';
import { LATE_PATH } from './webhook-receiver.ts';

/** What operators do to runs. A response that an action must not get is recorded as unexpected. */
export interface ActionContext {
  readonly http: HttpClient;
  /** Of another tenant. */
  readonly guest: HttpClient;
  readonly receipts: Receipts;
  readonly random: Random;
  readonly receiverUrl: string;
  readonly runId: string;
  /** Runs of the same minutes. */
  readonly others: readonly string[];
  /** Idempotency key, used by no other action. */
  readonly key: string;
}

export type Action = (context: ActionContext) => Promise<void>;

/** Closing runs, which are delivered to every webhook, carry this tag. */
export const CLOSING_TAG = 'closing';

const PAGE = 1_000;
const MOST_LATE_WEBHOOKS = 8;
/** In bulk. */
const MOST_CANCELLED = 4;

/** True when the answer is the one that was hoped for; false when it is another that may come. */
function took(
  context: ActionContext,
  what: string,
  answer: Answer | undefined,
  wanted: number,
  others: number[],
): answer is Answer {
  countIn(context.receipts.actions, `${what} ${answer === undefined ? 'unanswered' : answer.status}`);
  if (answer === undefined) return false;
  if (answer.status === wanted) return true;
  if (!others.includes(answer.status))
    context.receipts.unexpectedResponses.push({ request: what, status: answer.status, body: answer.text });
  return false;
}

/** The log as it is now; undefined when the run is gone. */
async function readLog({ http, runId }: ActionContext): Promise<EventDocument[] | undefined> {
  const log: EventDocument[] = [];
  for (;;) {
    const after = log.length === 0 ? '' : `&lastSequence=${log.length - 1}`;
    const path = `/v1/runs/${runId}/events/poll?timeout=1&limit=${PAGE}${after}`;
    const answer = await http.askUntilAnswered('GET', path);
    if (answer?.status !== 200) return undefined;
    const events = answer.json['events'] as unknown as EventDocument[];
    log.push(...events);
    if (events.length < PAGE) return log;
  }
}

function hasEnded(log: readonly EventDocument[]): boolean {
  return isTerminalEvent(log.at(-1)?.type ?? '');
}

/** Its effects and tags are its own where it goes its own way; a replay has nothing of its own. */
async function fork(context: ActionContext): Promise<void> {
  const { http, receipts, random, runId, key } = context;
  const [isBranch, share, isWhole] = [random.chance(0.5), random.next(), random.chance(0.4)];
  const log = await readLog(context);
  if (log === undefined || log.length === 0) return;
  const wanted = isWhole && !isBranch ? 0 : Math.floor(share * log.length);
  const fromSeq = isBranch ? cutOutsideCalls(log, wanted) : wanted;
  const body: JsonObject = isBranch
    ? { mode: 'branch', fromSeq, values: { tag: key }, runOptionsOverlay: { tags: [key] } }
    : { mode: 'replay', fromSeq };
  const answer = await http.askUntilAnswered('POST', `/v1/host/weft/runs/${runId}:fork`, { body, key });
  if (!took(context, `${isBranch ? 'branch' : 'replay'} of a run`, answer, 201, [404, 410])) return;
  receipts.forks.push({
    ...{ runId: String(answer.json['runId']), sourceRunId: runId, fromSeq },
    ...{ mode: isBranch ? 'branch' : 'replay', at: Date.now() },
    ...{ sourceEvents: log.length, sourceEnded: hasEnded(log) },
  });
}

const OVER = new Set(['node.completed', 'node.failed', 'node.cancelled']);

/** A call that was in flight is made again as it was begun, in the name of the source; such a cut would look like a duplicate call to the service. */
function cutOutsideCalls(log: readonly EventDocument[], wanted: number): number {
  const inFlight = new Set<string>();
  let cut = 0;
  for (const { sequence, type, nodeId, payload } of log.slice(0, wanted)) {
    if (inFlight.size === 0) cut = sequence;
    if (nodeId === undefined || !/^(call|keep|task|once)-/.test(nodeId)) continue;
    const place = `${nodeId}${JSON.stringify(payload['iteration'])}`;
    if (OVER.has(type)) inFlight.delete(place);
    else inFlight.add(place);
  }
  return inFlight.size === 0 ? wanted : cut;
}

async function annotate(context: ActionContext): Promise<void> {
  const { http, receipts, runId, key } = context;
  const body = { signal: { kind: 'flag' }, note: key };
  const answer = await http.askUntilAnswered('POST', `/v1/runs/${runId}/annotations`, { body, key });
  if (took(context, 'annotate', answer, 201, [404, 410])) receipts.annotations.push({ runId, marker: key });
}

/** Here or to another tenant, and the same bundle a second time. */
async function carry(context: ActionContext): Promise<void> {
  const { http, guest, receipts, random, runId } = context;
  const to = random.chance(0.5) ? http : guest;
  const bundle = await http.askUntilAnswered('GET', `/v1/runs/${runId}/debug-bundle`);
  if (!took(context, 'bundle', bundle, 200, [404, 410])) return;
  const again: string[] = [];
  for (const _time of ['once', 'twice']) {
    const answer = await to.askUntilAnswered('POST', '/v1/host/weft/imports', { body: bundle.json });
    // The first answer may have been lost, and then the run is there already.
    const wanted = answer?.status === 200 ? 200 : 201;
    if (!took(context, 'import', answer, wanted, [])) return;
    again.push(String(answer.json['runId']));
  }
  const events = (bundle.json['events'] as unknown as EventDocument[]).map(comparable);
  receipts.imports.push({ runId: again[0] ?? '', sourceRunId: runId, again, events });
}

async function remove(context: ActionContext): Promise<void> {
  const { http, receipts, runId, key } = context;
  const askedAt = Date.now();
  const answer = await http.askUntilAnswered('DELETE', `/v1/host/weft/runs/${runId}`, { key });
  // 410: removed by another operator, or by a request whose response was lost.
  const wanted = answer?.status === 410 ? 410 : 204;
  if (took(context, 'remove', answer, wanted, [404, 409]))
    receipts.removals.push({ runId, askedAt, at: Date.now() });
}

async function erase(context: ActionContext): Promise<void> {
  const { http, receipts, runId, key } = context;
  const log = await readLog(context);
  if (log === undefined || !hasEnded(log)) return;
  const answer = await http.askUntilAnswered('POST', `/v1/host/weft/runs/${runId}:erase`, { key });
  if (took(context, 'erase', answer, 204, [404, 409, 410]))
    receipts.erasures.push({ runId, log: log.map((event) => JSON.stringify(event)) });
}

interface BulkCancelled {
  readonly runId: string;
  readonly ok: boolean;
  readonly status: string;
  readonly error: { readonly code: string };
}

const REFUSED = new Set(['not_found', 'run_terminal']);

async function cancelMany(context: ActionContext): Promise<void> {
  const { http, receipts, random, others, key } = context;
  const runIds = random.shuffle(others).slice(0, random.int(1, MOST_CANCELLED));
  const answer = await http.askUntilAnswered('POST', '/v1/runs:bulk-cancel', { body: { runIds }, key });
  if (answer === undefined) receipts.unanswered.push(...runIds);
  if (!took(context, 'bulk cancel', answer, 200, [])) return;
  const results = answer.json['results'] as unknown as BulkCancelled[];
  for (const { runId, ok, status, error } of results) {
    if (ok) receipts.cancels.push({ runId, status, at: Date.now() });
    // The host could not tell whether the cancel was taken.
    else if (!REFUSED.has(error.code)) receipts.unanswered.push(runId);
  }
  if (results.map(({ runId }) => runId).join() !== runIds.join())
    receipts.unexpectedResponses.push({ request: 'bulk cancel of others', status: 200, body: answer.text });
}

/** A create that is sent again, long after it was answered, and elsewhere. */
async function createAgain(context: ActionContext): Promise<void> {
  const { http, receipts, runId } = context;
  const tag = receipts.created.find((created) => created.runId === runId)?.tag;
  const body = tag === undefined ? undefined : receipts.bodies.get(tag);
  if (tag === undefined || body === undefined) return;
  const answer = await http.askUntilAnswered('POST', '/v1/runs', { body, key: tag });
  if (took(context, 'create again', answer, 201, []))
    receipts.created.push({ tag, runId: String(answer.json['runId']) });
}

/** A webhook registered during the faults. It gets the closing runs only, which start when every process knows of it. */
async function subscribe(context: ActionContext): Promise<void> {
  const { http, receipts, receiverUrl, key } = context;
  if (receipts.webhooks.length >= MOST_LATE_WEBHOOKS) return;
  const events = ['run.completed'];
  const body = { url: `${receiverUrl}${LATE_PATH}`, events, tags: [CLOSING_TAG] };
  const answer = await http.askUntilAnswered('POST', '/v1/webhooks', { body, key });
  if (!took(context, 'subscribe', answer, 201, [])) return;
  const { webhookId, secret } = answer.json;
  receipts.webhooks.push({
    ...{ webhookId: String(webhookId), events, tags: [CLOSING_TAG] },
    ...(typeof secret === 'string' && { secret }),
  });
}

/** Some several times: operators draw from a shuffled deck. */
export const ACTIONS: readonly Action[] = [
  ...[fork, fork, fork, fork, annotate, annotate, carry, remove, remove],
  ...[erase, cancelMany, createAgain, createAgain, subscribe],
];
