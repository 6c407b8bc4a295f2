import { randomUUID } from 'node:crypto';
import { startLoopbackServer } from './loopback-server.ts';

/** One delivery as it came. */
export interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: string;
}

/** Takes deliveries of webhooks and callbacks, and remembers them. */
export interface WebhookReceiver {
  /** Where the host must be allowed to send to. */
  readonly address: string;
  /** A URL under which nothing has arrived yet. It answers 200, or sends the host on to another URL. */
  newUrl(redirectTo?: string): string;
  deliveriesTo(url: string): readonly Delivery[];
  stop(): Promise<void>;
}

/** More than any check causes; a host that sends without end is cut off here. */
const MAX_DELIVERIES_PER_URL = 1_000;

export async function startWebhookReceiver(port: number): Promise<WebhookReceiver> {
  const deliveries = new Map<string, Delivery[]>();
  const redirects = new Map<string, string>();
  const server = await startLoopbackServer(port, ({ path, headers, body }) => {
    const arrived = deliveries.get(path);
    if (arrived === undefined) return { status: 404 };
    if (arrived.length >= MAX_DELIVERIES_PER_URL) return { status: 429 };
    arrived.push({ path, headers, rawBody: body.toString('utf8') });
    const location = redirects.get(path);
    return location === undefined ? { status: 200 } : { status: 307, headers: { location } };
  });
  return {
    address: server.address,
    newUrl(redirectTo) {
      const path = `/deliveries/${randomUUID()}`;
      deliveries.set(path, []);
      if (redirectTo !== undefined) redirects.set(path, redirectTo);
      return `http://${server.address}${path}`;
    },
    deliveriesTo: (url) => deliveries.get(new URL(url).pathname) ?? [],
    stop: () => server.stop(),
  };
}
