import { setTimeout as pause } from 'node:timers/promises';
import { isTerminalEvent } from '@weft/engine';
import { createSseParser, type JsonObject, RUN_ANNOTATED } from '@weft/protocol';
import type { StreamedEvent } from '../checking/history.ts';
import type { HttpClient } from './http.ts';
import type { Random } from '../random.ts';
import type { Receipts } from './receipts.ts';

/**
 * A client that starts runs one after the other and follows each for a while: it disconnects in the middle, reconnects to any
 * process and continues where it was; at times it pauses, resumes or cancels. Every response is a receipt.
 */
export interface ClientOptions {
  readonly name: string;
  readonly http: HttpClient;
  readonly receipts: Receipts;
  readonly random: Random;
  readonly workflows: readonly string[];
  /** Workflows whose runs get this callback URL. */
  readonly callbackWorkflows: readonly string[];
  readonly callbackUrl: string;
  /** No new runs after this. */
  readonly signal: AbortSignal;
}

/** What a client has planned for a run before it starts it, so that chance does not depend on timing. */
interface Plan {
  readonly workflowId: string;
  /** A webhook gets all of its events. */
  readonly isWatched: boolean;
  readonly flip: boolean;
  readonly cancelAfter: number | undefined;
  readonly pauseAfter: number | undefined;
  readonly followMs: readonly number[];
  /** Looks after the run's first child too. */
  readonly followsChild: boolean;
}

/** Runs with this tag have a webhook for all of their events. */
export const WATCHED_TAG = 'watched';

/** An input that must appear in no event. */
export function privateInputOf(tag: string): string {
  return `${PRIVATE_INPUT}-${tag}`;
}

export const PRIVATE_INPUT = 'private-input';

const TOKENS = Array.from({ length: 8 }, (_, index) => `piece ${index}, `);
const PAUSE_MS = 60;
const PAUSED_MS = 300;
const MOST_CREATES = 600;

export async function runClient(options: ClientOptions): Promise<void> {
  for (let count = 0; !options.signal.aborted; count += 1) {
    const plan = planRun(options);
    const tag = `${options.name}-${count}`;
    const runId = await create(options, tag, plan);
    if (runId !== undefined) await followRun(options, runId, plan);
  }
}

function planRun({ random, workflows, callbackWorkflows }: ClientOptions): Plan {
  const workflowId = random.pick(random.chance(0.15) ? callbackWorkflows : workflows);
  const isWatched = random.chance(0.3);
  const flip = random.chance(0.5);
  const followMs = Array.from({ length: random.int(2, 7) }, () => random.int(30, 1_500));
  const cancels = random.chance(0.1);
  const pauses = random.chance(0.15);
  const when = random.int(0, 2);
  const followsChild = random.chance(0.5);
  return {
    followsChild,
    workflowId,
    isWatched,
    flip,
    followMs,
    cancelAfter: cancels ? when : undefined,
    pauseAfter: pauses ? when : undefined,
  };
}

/** Sent again with the same key until it is answered, as a careful client does. */
async function create(
  { http, receipts, signal, callbackWorkflows, callbackUrl }: ClientOptions,
  tag: string,
  { workflowId, flip, isWatched }: Plan,
): Promise<string | undefined> {
  const body: JsonObject = {
    workflowId,
    inputs: { tag, flip, word: privateInputOf(tag) },
    tags: isWatched ? [tag, WATCHED_TAG] : [tag],
    ...(callbackWorkflows.includes(workflowId) && { callbackUrl }),
    configurable: { mockProvider: { id: 'stream-text', config: { tokens: TOKENS, delayMsPerToken: 15 } } },
  };
  for (let tries = 0; tries < MOST_CREATES && (tries > 0 || !signal.aborted); tries += 1) {
    const answer = await http.ask('POST', '/v1/runs', { body, key: tag });
    if (answer?.status === 201) {
      const runId = String(answer.json['runId']);
      receipts.bodies.set(tag, body);
      receipts.created.push({ tag, runId });
      return runId;
    }
    if (answer !== undefined) {
      const { status, json } = answer;
      receipts.unexpectedResponses.push({
        request: `POST /v1/runs ${tag}`,
        status,
        body: JSON.stringify(json),
      });
      return undefined;
    }
    await pause(PAUSE_MS);
  }
  return undefined;
}

async function followRun(options: ClientOptions, runId: string, plan: Plan): Promise<void> {
  let after = -1;
  let isOver = false;
  for (const [index, forMs] of plan.followMs.entries()) {
    if (isOver) return;
    const events = await follow(options, runId, after, forMs);
    after = events.at(-1)?.sequence ?? after;
    isOver = events.some(({ text }) => isTerminalEvent((JSON.parse(text) as { type: string }).type));
    if (plan.followsChild && index > 0) await followChild(options, runId, forMs);
    if (plan.pauseAfter === index) await pauseFor(options, runId);
    if (plan.cancelAfter === index) await cancel(options, runId);
    if (events.length === 0) await pause(PAUSE_MS);
  }
}

/** Follows the run's events for a while; whatever arrived is a receipt, also when the connection broke. */
async function follow(
  { http, receipts }: ClientOptions,
  runId: string,
  after: number,
  forMs: number,
  expected: readonly number[] = [],
): Promise<readonly StreamedEvent[]> {
  const events: StreamedEvent[] = [];
  const parser = createSseParser(({ id, event, data }) => {
    // What is said about the run comes along, and is in no log.
    if (id !== undefined && event !== RUN_ANNOTATED)
      events.push({ sequence: Number(id), text: data, at: Date.now() });
  });
  try {
    const response = await http.open(
      `/v1/runs/${runId}/events?streamMode=debug`,
      AbortSignal.timeout(forMs),
      {
        accept: 'text/event-stream',
        ...(after >= 0 && { 'last-event-id': String(after) }),
      },
    );
    if ((response.status === 404 || response.status === 500) && !expected.includes(response.status)) {
      const body = await response.text();
      receipts.unexpectedResponses.push({ request: `GET events of ${runId}`, status: response.status, body });
    } else if (response.ok && response.body !== null) {
      const decoder = new TextDecoder();
      for await (const chunk of response.body)
        parser.push(decoder.decode(chunk as Uint8Array, { stream: true }));
    }
  } catch {
    // The time was up, or the host is gone: what arrived before counts.
  }
  if (events.length > 0) receipts.streams.push({ runId, after, events });
  return events;
}

async function followChild(options: ClientOptions, runId: string, forMs: number): Promise<void> {
  const answer = await options.http.ask('GET', `/v1/runs/${runId}`);
  const [child] = (answer?.json['childRuns'] ?? []) as { runId: string }[];
  // It is announced before it is made.
  if (child !== undefined) await follow(options, child.runId, -1, forMs, [404]);
}

async function pauseFor({ http }: ClientOptions, runId: string): Promise<void> {
  await http.ask('POST', `/v1/runs/${runId}:pause`, { body: {} });
  await pause(PAUSED_MS);
  await http.ask('POST', `/v1/runs/${runId}:resume`, { body: {} });
}

async function cancel({ http, receipts }: ClientOptions, runId: string): Promise<void> {
  const answer = await http.ask('POST', `/v1/runs/${runId}/cancel`, { body: {}, key: `cancel-${runId}` });
  if (answer === undefined) receipts.unanswered.push(runId);
  else if (answer.status === 200)
    receipts.cancels.push({ runId, status: String(answer.json['status']), at: Date.now() });
}
