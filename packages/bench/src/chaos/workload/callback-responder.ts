import type { HttpClient } from './http.ts';
import type { Receipts } from './receipts.ts';

/** Answers the interrupts that callbacks announce. */
export interface CallbackResponder {
  take(body: string): void;
  /** From now on callbacks are answered, through the link in each of them, without an API key. */
  open(http: HttpClient, receipts: Receipts): void;
  /** Resolves when everything taken so far is answered. */
  idle(): Promise<void>;
}

interface Question {
  readonly runId: string;
  readonly interruptId: string;
  readonly interruptToken?: string;
}

const FITTING = new Set([200, 202, 404, 409, 410]);

export function createCallbackResponder(): CallbackResponder {
  const inFlight = new Set<Promise<void>>();
  let answer: ((body: string) => Promise<void>) | undefined;
  let count = 0;

  function take(body: string): void {
    if (answer === undefined) return;
    const work = answer(body).finally(() => inFlight.delete(work));
    inFlight.add(work);
  }

  return {
    take,
    open(http, receipts) {
      answer = async (body) => {
        const { runId, interruptId, interruptToken } = JSON.parse(body) as Question;
        count += 1;
        const marker = `called-${count}-mark`;
        const given = await http.askUntilAnswered('POST', `/v1/interrupts/${String(interruptToken)}`, {
          body: { resumeValue: { action: 'accept', feedback: marker } },
          key: marker,
        });
        if (given === undefined) return void receipts.unanswered.push(runId);
        const { status, text } = given;
        receipts.answers.push({ runId, interruptId, marker, votes: 1, status });
        if (!FITTING.has(status))
          receipts.unexpectedResponses.push({ request: 'answer by callback', status, body: text });
      };
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
