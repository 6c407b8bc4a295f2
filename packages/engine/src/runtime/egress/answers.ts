import { Readable } from 'node:stream';
import type { EgressResponse, EgressStream } from '../../model/node-type.ts';
import type { EgressError } from './egress-error.ts';

/** Takes what comes back of an exchange, in this order: start, data, then end or fail; fail alone when there is no answer. */
export interface AnswerSink {
  start(head: AnswerHead, flow: AnswerFlow): void;
  data(chunk: Buffer): void;
  end(): void;
  fail(error: EgressError): void;
}

export type AnswerHead = Pick<EgressResponse, 'status' | 'headers'>;

export interface AnswerFlow {
  pause(): void;
  resume(): void;
  /** The rest is not wanted. */
  cut(): void;
}

/** Kept in memory until it is complete. */
export class WholeAnswer implements AnswerSink {
  readonly #resolve: (response: EgressResponse) => void;
  readonly #reject: (error: EgressError) => void;
  readonly #chunks: Buffer[] = [];
  #head: AnswerHead = { status: 0, headers: {} };

  constructor(resolve: (response: EgressResponse) => void, reject: (error: EgressError) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(head: AnswerHead): void {
    this.#head = head;
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(): void {
    const [only] = this.#chunks;
    const body = only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#head.status, headers: this.#head.headers, body });
  }

  fail(error: EgressError): void {
    this.#reject(error);
  }
}

/** Handed on as it comes; a reader that is slow slows the sender. */
export class StreamedAnswer implements AnswerSink {
  readonly #resolve: (response: EgressStream) => void;
  readonly #reject: (error: EgressError) => void;
  #body: Readable | undefined;
  #flow: AnswerFlow | undefined;

  constructor(resolve: (response: EgressStream) => void, reject: (error: EgressError) => void) {
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(head: AnswerHead, flow: AnswerFlow): void {
    this.#flow = flow;
    const body = new Readable({
      read: () => flow.resume(),
      destroy: (error, done) => {
        flow.cut();
        done(error);
      },
    });
    // A reader of the body gets the error there; without a reader it must not end the process.
    body.on('error', () => undefined);
    this.#body = body;
    this.#resolve({ ...head, body });
  }

  data(chunk: Buffer): void {
    if (this.#body?.push(chunk) === false) this.#flow?.pause();
  }

  end(): void {
    this.#body?.push(null);
  }

  fail(error: EgressError): void {
    if (this.#body === undefined) this.#reject(error);
    else this.#body.destroy(error);
  }
}
