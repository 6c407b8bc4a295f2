import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.ts';

export interface AbandonOptions {
  readonly port: number;
  readonly apiKey: string;
  readonly clients: number;
  readonly random: Random;
  readonly workflows: readonly string[];
  /** Runs to read. */
  readonly runIds: readonly string[];
}

const LONGEST_MS = 1_500;

/** Many clients that disconnect: in the middle of a request, before the response, in the middle of a stream. */
export async function abandonRequests(options: AbandonOptions): Promise<void> {
  const { random, clients } = options;
  // Drawn before anything is sent, so that the order of answers does not matter.
  const plans = Array.from({ length: clients }, (_, index) => ({
    text: requestOf(options, index),
    share: random.pick([0.5, 1, 1, 1]),
    forMs: random.int(1, LONGEST_MS),
  }));
  await Promise.all(
    plans.map(async ({ text, share, forMs }) => {
      const socket = connect(options.port, '127.0.0.1');
      // Refused or reset: a client that disconnects does not care.
      socket.on('error', () => socket.destroy());
      socket.write(text.slice(0, Math.ceil(text.length * share)));
      // Reads nothing at all, so that what the host sends piles up on its side.
      socket.pause();
      await pause(forMs);
      socket.destroy();
    }),
  );
}

function requestOf({ apiKey, random, workflows, runIds }: AbandonOptions, index: number): string {
  const head = `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\n`;
  if (runIds.length > 0 && random.chance(0.6)) {
    const path = `/v1/runs/${random.pick(runIds)}${random.pick(['', '/events', '/events/poll?timeout=5'])}`;
    return `GET ${path} HTTP/1.1\r\n${head}\r\n`;
  }
  const tag = `abandoned-${index}-${random.int(0, 2 ** 31)}`;
  const body = JSON.stringify({
    workflowId: random.pick(workflows),
    inputs: { tag, flip: true },
    tags: [tag],
  });
  const more = `Idempotency-Key: ${tag}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `POST /v1/runs HTTP/1.1\r\n${head}${more}\r\n${body}`;
}
