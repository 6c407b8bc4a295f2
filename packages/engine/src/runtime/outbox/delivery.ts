import type { Egress, EgressRequest } from '../../model/node-type.ts';
import type { DocumentWrite, EnqueuedRow, OutboxRow } from '../../ports/store.ts';
import { EgressError } from '../egress/egress-error.ts';
import { signedHeaders } from './signing.ts';

/** What became of one attempt. */
export type Attempt =
  | { readonly state: 'delivered' }
  /** There is nothing to tell any more; nothing was sent. */
  | { readonly state: 'withdrawn' }
  /** Nothing was sent; these take the row's place. */
  | {
      readonly state: 'expanded';
      readonly enqueue: readonly EnqueuedRow[];
      readonly documents: readonly DocumentWrite[];
    }
  /** `reason` is a short machine-readable word; it never holds anything of the request or the answer. */
  | { readonly state: 'failed'; readonly reason: string }
  /** Cut off by the host itself. */
  | { readonly state: 'aborted' };

/** Carries out one attempt. The signal ends it; nothing leaves the process once `mayLeave` is false. */
export type Deliver = (row: OutboxRow, signal: AbortSignal, mayLeave: () => boolean) => Promise<Attempt>;

/** What a row says, looked up when it is about to be sent. Undefined when there is nothing to send any more. */
export type Render = (row: OutboxRow) => Promise<Message | undefined>;

export interface Message {
  readonly tenant: string;
  readonly url: string;
  /** The subscription, or what stands for one. */
  readonly webhookId: string;
  readonly eventType: string;
  /** JSON text; exactly these bytes are signed and sent. */
  readonly body: string;
  /** `application/json` when left out. */
  readonly contentType?: string;
  /** What the receiver wants to know the host by. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly secret: string;
}

export interface DeliveryOptions {
  readonly egress: Egress;
  /** Why this URL may not be sent to; undefined when it may. */
  readonly refusalOf: (url: string) => string | undefined;
  readonly now: () => number;
  readonly userAgent: string;
}

/** Receivers answer with a status; what else they say is read to its end, within reason, and forgotten. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

export function createDeliver(options: DeliveryOptions, render: Render): Deliver {
  return async (row, signal, mayLeave) => {
    const message = await render(row);
    if (message === undefined) return { state: 'withdrawn' };
    // The rules may have changed since the URL was accepted.
    if (options.refusalOf(message.url) !== undefined) return { state: 'failed', reason: 'url_refused' };
    if (signal.aborted) return { state: 'aborted' };
    return await send(options, message, signal, mayLeave);
  };
}

async function send(
  { egress, now, userAgent }: DeliveryOptions,
  message: Message,
  signal: AbortSignal,
  mayLeave: () => boolean,
): Promise<Attempt> {
  try {
    const request: EgressRequest = {
      url: message.url,
      method: 'POST',
      headers: {
        'content-type': message.contentType ?? 'application/json',
        'user-agent': userAgent,
        ...signedHeaders({ ...message, now: now() }),
        ...message.headers,
      },
      body: message.body,
      signal,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      followRedirects: false,
      mayLeave,
    };
    const { status } = await egress.fetch(request, message.tenant);
    return status >= 200 && status < 300
      ? { state: 'delivered' }
      : { state: 'failed', reason: `status_${status}` };
  } catch (error) {
    if (signal.aborted) return { state: 'aborted' };
    if (error instanceof EgressError) return { state: 'failed', reason: error.reason };
    throw error;
  }
}
