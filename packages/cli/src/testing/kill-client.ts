import { setTimeout as pause } from 'node:timers/promises';
import { createSseParser, type JsonObject } from '@weft/protocol';

/** What the host has acknowledged to a client: it must still be true after any crash. */
export interface Receipts {
  /** Tag of the request → run id in the 201. */
  readonly runs: Map<string, string>;
  /** Run id → sequence → the exact document that was streamed. */
  readonly events: Map<string, Map<number, string>>;
  /** Runs whose question the host said to have answered. */
  readonly answered: Set<string>;
  /** Requests that had to be sent again because the connection broke. */
  repeats: number;
  /** Statuses of creates that were neither accepted nor sent away with the advice to come back. */
  readonly refused: number[];
}

export interface KillClientOptions {
  /** Asked for every request: it need not be the same host each time. */
  readonly url: () => string;
  readonly apiKey: string;
  readonly workflowId: string;
  readonly name: string;
  readonly receipts: Receipts;
  readonly signal: AbortSignal;
  /** The gate of the workflow that waits for an approval. */
  readonly nodeToAnswer?: string;
  /** The gate is in the run's child. */
  readonly answerChild?: true;
  readonly configurable?: JsonObject;
}

/**
 * Creates runs and follows them, one after the other, until it is stopped. A create that got no answer is sent again with the
 * same Idempotency-Key, as a careful client does, until it is answered.
 */
export async function runKillClient(options: KillClientOptions): Promise<void> {
  for (let count = 0; !options.signal.aborted; count += 1) {
    const tag = `${options.name}-${count}`;
    const runId = await createUntilAnswered(options, tag);
    if (runId === undefined) return;
    options.receipts.runs.set(tag, runId);
    if (options.nodeToAnswer !== undefined) {
      const asked = options.answerChild === true ? await childOf(options, runId) : runId;
      await answerUntilTaken(options, asked, options.nodeToAnswer);
    }
    await follow(options, runId);
  }
}

async function createUntilAnswered(options: KillClientOptions, tag: string): Promise<string | undefined> {
  let isRepeat = false;
  while (!options.signal.aborted || isRepeat) {
    try {
      const response = await fetch(`${options.url()}/v1/runs`, {
        method: 'POST',
        headers: headers(options, { 'idempotency-key': tag }),
        body: JSON.stringify({
          workflowId: options.workflowId,
          inputs: { tag },
          tags: [tag],
          ...(options.configurable !== undefined && { configurable: options.configurable }),
        }),
        signal: AbortSignal.timeout(5_000),
      });
      if (response.status === 201) return ((await response.json()) as { runId: string }).runId;
      if (!response.headers.has('retry-after')) options.receipts.refused.push(response.status);
      await response.arrayBuffer();
    } catch {
      options.receipts.repeats += 1;
    }
    isRepeat = true;
    await pause(20);
  }
  return undefined;
}

/** Asks for the run until it has a child. */
async function childOf(options: KillClientOptions, runId: string): Promise<string> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    try {
      const response = await fetch(`${options.url()}/v1/runs/${runId}`, {
        headers: headers(options, {}),
        signal: AbortSignal.timeout(5_000),
      });
      const { childRuns } = (await response.json()) as { childRuns?: { runId: string }[] };
      const child = childRuns?.[0]?.runId;
      if (child !== undefined) return child;
    } catch {
      options.receipts.repeats += 1;
    }
    await pause(20);
  }
  throw new Error(`run ${runId} never had a child`);
}

/** Approves the gate, again and again until the host has said that it is answered. */
async function answerUntilTaken(options: KillClientOptions, runId: string, nodeId: string): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    try {
      const response = await fetch(`${options.url()}/v1/runs/${runId}/interrupts/${nodeId}`, {
        method: 'POST',
        headers: headers(options, { 'idempotency-key': `answer-${runId}-${tries}` }),
        body: JSON.stringify({ resumeValue: { action: 'accept' } }),
        signal: AbortSignal.timeout(5_000),
      });
      await response.arrayBuffer();
      if (response.status === 200 || response.status === 409) {
        options.receipts.answered.add(runId);
        return;
      }
    } catch {
      options.receipts.repeats += 1;
    }
    await pause(20);
  }
}

/** Reads the stream until the run ends or the connection breaks; whatever arrived is a receipt. */
async function follow(options: KillClientOptions, runId: string): Promise<void> {
  const received = new Map<number, string>();
  options.receipts.events.set(runId, received);
  const parser = createSseParser((event) => {
    if (event.id !== undefined) received.set(Number(event.id), event.data);
  });
  try {
    const response = await fetch(`${options.url()}/v1/runs/${runId}/events?streamMode=debug`, {
      headers: headers(options, { accept: 'text/event-stream' }),
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(5_000)]),
    });
    if (!response.ok || response.body === null) return;
    const decoder = new TextDecoder();
    for await (const chunk of response.body)
      parser.push(decoder.decode(chunk as Uint8Array, { stream: true }));
  } catch {
    // The host was killed, or the test is over: what arrived before counts.
  }
}

function headers(options: KillClientOptions, extra: Record<string, string>): Record<string, string> {
  return { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json', ...extra };
}
