import type { JsonObject } from '@weft/protocol';
import type { Egress, EgressRequest } from '../../model/node-type.ts';
import { signatureOf } from '../outbox/signing.ts';
import { NO_STREAMS } from './no-streams.ts';

/** An outside world of one process: every request is kept, and the test decides what it is answered. */
export interface FakeReceiver {
  readonly egress: Egress;
  readonly requests: EgressRequest[];
  /** The bodies of all requests, parsed. */
  bodies(): JsonObject[];
  /** Called for every request; the status to answer. */
  answer: (request: EgressRequest) => number | Promise<number>;
}

export function fakeReceiver(): FakeReceiver {
  const receiver: FakeReceiver = {
    requests: [],
    bodies: () => receiver.requests.map(({ body }) => JSON.parse(body ?? 'null') as JsonObject),
    answer: () => 200,
    egress: {
      ...NO_STREAMS,
      async fetch(request) {
        receiver.requests.push(request);
        return { status: await receiver.answer(request), headers: {}, body: new Uint8Array() };
      },
    },
  };
  return receiver;
}

/** Whether the request carries the signature that this secret gives its time and its body. */
export function isSignedWith(secret: string, request: EgressRequest | undefined): boolean {
  if (request === undefined) return false;
  const { headers, body = '' } = request;
  const timestamp = headers['x-openwop-timestamp'] ?? '';
  return headers['x-openwop-signature'] === signatureOf(secret, timestamp, body);
}
