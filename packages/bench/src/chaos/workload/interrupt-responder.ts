import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@weft/protocol';
import type { HttpClient } from './http.ts';
import type { Random } from '../random.ts';
import type { Receipts } from './receipts.ts';
import { CALLBACK_GATE } from './workflows.ts';

/** Answers every open interrupt. Several responders race, each with markers of its own. */
export interface InterruptResponderOptions {
  readonly name: string;
  readonly http: HttpClient;
  readonly receipts: Receipts;
  readonly random: Random;
  readonly signal: AbortSignal;
}

interface Question {
  readonly runId: string;
  readonly nodeId: string;
  readonly iteration?: readonly number[];
  readonly interruptId: string;
  readonly kind: string;
  readonly data: JsonObject;
}

const LOOK_EVERY_MS = 150;
const AT_ONCE = 8;
const MOST_TRIES = 6;

export async function runInterruptResponder(options: InterruptResponderOptions): Promise<void> {
  let count = 0;
  while (!options.signal.aborted) {
    const answer = await options.http.ask('GET', '/v1/host/weft/interrupts?limit=200');
    const listed = (answer?.json['interrupts'] ?? []) as unknown as Question[];
    const open = listed.filter((question) => !usesCallback(question, options.receipts));
    // Not all at once, and in any order: the others look at the same list.
    const chosen = options.random.shuffle(open).slice(0, AT_ONCE);
    await Promise.all(
      chosen.map((question) => {
        count += 1;
        return give(options, question, `${options.name}-${count}-mark`);
      }),
    );
    await pause(LOOK_EVERY_MS);
  }
}

/**
 * Left to the callback responder: without a callback the run would wait for ever. A replay sends no callback, nor does a branch
 * that takes over a question which its source has sent.
 */
function usesCallback({ nodeId, runId }: Question, { forks }: Receipts): boolean {
  return nodeId.startsWith(CALLBACK_GATE) && !forks.some((fork) => fork.runId === runId);
}

/** Sent again with the same key until there is a response; a rejection is one too. */
async function give(
  { http, receipts }: InterruptResponderOptions,
  question: Question,
  marker: string,
): Promise<void> {
  const { runId, nodeId, interruptId, iteration = [] } = question;
  const place = encodeURIComponent(`${nodeId}${iteration.map((index) => `[${index}]`).join('')}`);
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const answer = await http.ask('POST', `/v1/runs/${runId}/interrupts/${place}`, {
      body: { resumeValue: valueFor(question, marker) },
      key: marker,
    });
    // Kept, and not yet evaluated: the same request asks what became of it.
    if (answer === undefined || (answer.status === 202 && tries < MOST_TRIES - 1)) {
      await pause(LOOK_EVERY_MS);
      continue;
    }
    const { status } = answer;
    receipts.answers.push({ runId, interruptId, marker, votes: votesOf(question), status });
    if (![200, 202, 404, 409, 410].includes(status))
      receipts.unexpectedResponses.push({
        request: `answer ${question.kind}`,
        status,
        body: JSON.stringify(answer.json),
      });
    return;
  }
  receipts.unanswered.push(runId);
}

function valueFor(question: Question, marker: string): JsonObject {
  const { kind, data } = question;
  switch (kind) {
    case 'approval':
      return { action: 'accept', voter: marker };
    case 'clarification': {
      const questions = data['questions'] as { id: string }[];
      return { answers: Object.fromEntries(questions.map(({ id }) => [id, marker])) };
    }
    case 'conversation.exchange':
      return isOpenEnded(question) ? { operation: 'close', outcome: { said: marker } } : { content: marker };
    case 'external-event':
      return { ...(data['correlation'] as JsonObject), said: marker };
    default:
      return { ratified: true, said: marker };
  }
}

/** What a dispatch asks stays open until a responder closes it. */
function isOpenEnded({ nodeId }: Question): boolean {
  return nodeId.startsWith('dis-');
}

/** A conversation takes as many turns as come before its own end; how many that are is not in the question. */
function votesOf(question: Question): number {
  const { kind, data } = question;
  if (kind === 'conversation.exchange' && !isOpenEnded(question)) return Number.MAX_SAFE_INTEGER;
  return kind === 'approval' ? Number(data['requiredApprovals'] ?? 1) : 1;
}
