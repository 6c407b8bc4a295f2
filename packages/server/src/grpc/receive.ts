import type { Gate } from '@weft/engine';
import { HostError } from '@weft/protocol';
import type { GrpcStream } from './grpc-call.ts';

/** The caller has gone: there is no one to answer. */
export class CallerLeft extends Error {}

/**
 * The one message of a call. Until it is complete it takes memory that only its sender knows the size of, so a few are received at
 * the same time, tenants in turn; the others wait with their senders, held back by the flow control of HTTP/2.
 */
export function receiveMessage(
  stream: GrpcStream,
  { gate, tenant, timeoutMs }: { readonly gate: Gate; readonly tenant: string; readonly timeoutMs: number },
): Promise<Buffer> {
  return gate.pass(tenant, () => readOne(stream, timeoutMs));
}

function readOne(stream: GrpcStream, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (stream.cancelled) {
      reject(new CallerLeft());
      return;
    }
    const received: Buffer[] = [];
    const timer = setTimeout(() => settle(() => reject(tooSlow(timeoutMs))), timeoutMs);
    const onMessage = (message: Buffer): void => {
      received.push(message);
      if (received.length > 1) settle(() => reject(notOne()));
    };
    const onEnd = (): void => {
      const [message] = received;
      settle(() => (message === undefined ? reject(notOne()) : resolve(message)));
    };
    const onClose = (): void => settle(() => reject(new CallerLeft()));
    function settle(how: () => void): void {
      clearTimeout(timer);
      stream.off('data', onMessage).off('end', onEnd).off('close', onClose);
      how();
    }
    stream.on('data', onMessage).on('end', onEnd).on('close', onClose);
  });
}

function notOne(): HostError {
  return new HostError('validation_error', 'Send exactly one message, then end your side of the call.', {
    field: 'body',
  });
}

function tooSlow(limit: number): HostError {
  return new HostError('validation_error', `The message was not complete within ${limit} ms.`, {
    field: 'body',
    limit,
  });
}
