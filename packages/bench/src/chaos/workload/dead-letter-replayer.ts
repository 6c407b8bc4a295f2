import { setTimeout as pause } from 'node:timers/promises';
import type { HttpClient } from './http.ts';
import type { Receipts } from './receipts.ts';

/** Lists dead deliveries and replays each. */
export async function runDeadLetterReplayer(
  http: HttpClient,
  receipts: Receipts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const answer = await http.ask('GET', '/v1/host/weft/deliveries?limit=100');
    const dead = (answer?.json['deliveries'] ?? []) as unknown as { deliveryId: string; failedAt: string }[];
    for (const { deliveryId, failedAt } of dead) {
      if (signal.aborted) return;
      receipts.dead.push({ deliveryId });
      const path = `/v1/host/weft/deliveries/${encodeURIComponent(deliveryId)}:replay`;
      const key = `again-${deliveryId}-${failedAt}`;
      const replayed = await http.ask('POST', path, { key });
      if (replayed !== undefined && ![202, 404].includes(replayed.status))
        receipts.unexpectedResponses.push({ request: path, status: replayed.status, body: replayed.text });
    }
    await pause(LOOK_EVERY_MS);
  }
}

const LOOK_EVERY_MS = 400;
